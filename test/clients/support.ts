import { execFile } from "node:child_process";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { useService } from "../support/use-service.ts";

const PROGRAMS = fileURLToPath(new URL("programs/", import.meta.url));
/** The contract, as test/api/openapi.test.ts compares it with the service's. */
const CONTRACT = fileURLToPath(new URL("../api/openapi.snapshot.json", import.meta.url));
/** Every byte there is, several times: a client that reads text would change them. */
const BYTES = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);

/** What a program of test/clients/programs has seen. */
interface Seen {
  readonly candidate: string;
  readonly state: string;
  /** Whether the bytes that it read are those that it uploaded. */
  readonly same: boolean;
  /** The ids of the list's candidates, and of those that were deleted. */
  readonly rows: readonly string[];
  readonly deleted: readonly string[];
  readonly surfaces: number;
  readonly problem: string;
}

export interface Workshop {
  /** A new folder for the client. */
  readonly folder: string;
  /** The path of the contract. */
  readonly contract: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The path of a program in test/clients/programs. */
export function program(name: string): string {
  return join(PROGRAMS, name);
}

/** Runs a program to its end. @returns what it printed. @throws with what it printed, if it fails. */
export async function run(
  command: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<string> {
  try {
    const settings = { maxBuffer: 64 * 1024 * 1024, ...options, env: { ...process.env, ...options.env } };
    return (await promisify(execFile)(command, args, settings)).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")}\n${stdout.slice(-4000)}\n${stderr.slice(-4000)}`, { cause: error });
  }
}

/** Makes a client with openapi-generator. @param settings its additional properties. By default, those of the generator. */
export async function generate(
  generator: string,
  { folder, contract }: Pick<Workshop, "folder" | "contract">,
  { output, settings }: { output: string; settings?: string },
): Promise<void> {
  const args = ["generate", "-g", generator, "-i", contract, "-o", join(folder, output)];
  const properties = settings === undefined ? [] : [`--additional-properties=${settings}`];
  const jar = process.env["CLIENTS_GENERATOR"] ?? "";
  await run("java", ["-jar", jar, ...args, ...properties], { cwd: folder });
}

/** Declares the test that a client compiles which openapi-generator makes with its default settings. @param compile gets the client's folder. */
export function itCompiles(generator: string, tool: string, compile: (folder: string) => Promise<unknown>): void {
  it(`a client of ${generator} compiles if it is made with the generator's default settings`, async function () {
    if (!process.env["CLIENTS_GENERATOR"] || !process.env[tool]) this.skip();
    const folder = await mkdtemp(join(tmpdir(), "client-"));
    await generate(generator, { folder, contract: CONTRACT }, { output: "generated" });
    await compile(join(folder, "generated"));
  });
}

/**
 * Declares the test of one language: it makes a client from the contract of the running service, compiles it, and runs
 * the language's program with it.
 * @param tools the variables that name what the language needs, see test/clients/set-up.ts. If one is empty, the test is skipped.
 * @param build makes and compiles the client, and runs the program. Returns what the program printed.
 */
export function itWorksIn(
  language: string,
  tools: readonly string[],
  build: (workshop: Workshop) => Promise<string>,
): void {
  describe(`a client that is generated for ${language}`, () => {
    const service = useService();

    it("compiles, creates a candidate, keeps the bytes of a file, sees a deletion, the limits and a problem", async function () {
      if (tools.some((name) => !process.env[name])) this.skip(); // npm run test:clients says which tools are missing
      const folder = await mkdtemp(join(tmpdir(), "client-"));
      const [contract, file] = [join(folder, "openapi.json"), join(folder, "file.bin")];
      await writeFile(contract, await (await fetch(`${service.url}/openapi.json`)).text());
      await writeFile(file, BYTES);
      await mkdir(join(folder, "downloads"));
      const { client, key } = await service.account();
      const gone = (await client.post("/candidates")).body.id;
      await client.request("DELETE", `/candidates/${gone}`);

      const env = { BASE_URL: service.url, API_KEY: key, FILE: file, TMPDIR: join(folder, "downloads") };
      const printed = await build({ folder, contract, env });
      const seen = JSON.parse(printed.trim().split("\n").at(-1)!) as Seen;

      expect(seen).to.deep.equal({
        candidate: seen.candidate,
        state: "created",
        same: true,
        rows: [seen.candidate],
        deleted: [gone],
        surfaces: 7,
        problem: "404 not_found",
      });
      const [document] = (await client.get(`/candidates/${seen.candidate}`)).body.documents;
      expect(document?.state, "the service has the bytes too").to.equal("received");
      expect(document?.content?.size).to.equal(BYTES.length);
    });
  });
}
