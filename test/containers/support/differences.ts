import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Returns a line for each file that differs between two folders, or that only one of them has. */
export async function differences(folders: readonly string[], more: readonly string[] = []): Promise<string[]> {
  const options = ["--recursive", "--brief", "--no-dereference", ...more];
  const differing = (error: Error & { code?: unknown; stdout?: string }) => {
    if (error.code !== 1) throw error; // diff itself failed
    return { stdout: error.stdout ?? "" };
  };
  const { stdout } = await promisify(execFile)("diff", [...options, ...folders]).catch(differing);
  return stdout.split("\n").filter(Boolean);
}
