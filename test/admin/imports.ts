import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Candidate } from "../../src/candidates/schema.ts";
import type { Service, TestAccount } from "../support/service.ts";
import { admin, answerOf, serversOf } from "./support.ts";

type Id = Pick<TestAccount, "id">;

/** Files to import, in a folder of the `describe` that calls this, and what becomes of them. */
export function useImports(service: Service) {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "import-"));
  });
  after(() => rm(folder, { recursive: true }));

  const env = () => ({ ...serversOf(service.config), ADMIN_ACTOR: "ann" });
  const pathOf = (name: string) => join(folder, name);
  const command = (file: string, { id }: Id, ...more: string[]) => {
    return ["candidates", "import", file, "--account", id, "--no-outreach", ...more];
  };
  return {
    env,
    pathOf,
    command,
    fileOf: async (name: string, content: string | Uint8Array): Promise<string> => {
      await writeFile(pathOf(name), content);
      return pathOf(name);
    },
    put: (file: string, account: Id, ...more: string[]) =>
      answerOf(command(file, account, ...more), env()) as Promise<Record<string, unknown>>,
    exported: async ({ id }: Id, format: string) =>
      (await admin(["candidates", "export", "--account", id, "--format", format], env())).stdout,
    /** Reads all rows of an account's feed. */
    rowsOf: async ({ client }: TestAccount): Promise<Candidate[]> => {
      const rows: Candidate[] = [];
      for (let query = "limit=1000", more = true; more;) {
        const { body } = await client.get(`/candidates?${query}`);
        rows.push(...body.data);
        [query, more] = [`limit=1000&cursor=${body.cursor}`, body.has_more];
      }
      return rows;
    },
    auditOf: async ({ id }: Id) => {
      const list = (await answerOf(["audit", "list", "--account", id], env())) as { data: Record<string, unknown>[] };
      return list.data.filter(({ action }) => String(action).startsWith("candidates "));
    },
  };
}
