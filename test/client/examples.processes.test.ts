import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import Database from "libsql";
import { useAccount, useService } from "../support/use-service.ts";
import { runProgram } from "./installed.ts";

const EXAMPLES = "src/docs/examples";
const run = promisify(execFile);

/** Runs a mirror once, and returns what it prints. */
type RunMirror = (env: NodeJS.ProcessEnv) => Promise<string>;

describe("the examples of mirrors", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;

  /** Changes the pipeline between runs, and expects that the mirror is then equal to the list. */
  async function follows(mirror: RunMirror): Promise<void> {
    const file = join(mkdtempSync(join(tmpdir(), "onboarding-mirror-")), "mirror.db");
    const env = { ONBOARDING_URL: service.url, ONBOARDING_KEY: account.key, MIRROR_FILE: file };
    const equal = async (): Promise<void> => {
      const { data } = (await client.get("/candidates?limit=200")).body;
      const live = data.filter((row) => !("deleted" in row));
      const db = new Database(file);
      const rows = db.prepare("select id, external_id, name, state, row from candidates order by id").all() as {
        [name: string]: string;
      }[];
      db.close();
      expect(rows.map(({ id, external_id, name, state }) => ({ id, external_id, name, state }))).to.have.deep.members(
        live.map(({ id, external_id, name, state }) => ({ id, external_id, name, state })),
      );
      expect(rows.map(({ row = "" }) => JSON.parse(row) as unknown)).to.have.deep.members(live);
    };
    expect(await mirror(env)).to.match(/^0 changes/);
    const ids: string[] = [];
    for (const name of ["Ada", "Grace", "Jean"]) {
      const { body } = await client.post("/candidates", { name, external_id: `row ${name}`, documents: ["CV"] });
      ids.push(body.id);
    }
    expect(await mirror(env)).to.match(/^3 changes/);
    await equal();
    await client.request("DELETE", `/candidates/${ids[0]}`);
    await client.patch(`/candidates/${ids[1]}`, { name: "Grace Hopper", withdrawn: true });
    await mirror(env);
    await equal();
    const { body } = await client.get(`/candidates?limit=200`);
    expect(body.data.map(({ id }) => id)).to.have.members(ids);
  }

  it("mirror.ts mirrors into SQLite, in 60 lines", async () => {
    const source = readFileSync(join(EXAMPLES, "mirror.ts"), "utf8");
    expect(source.trimEnd().split("\n").length).to.be.at.most(60);
    await follows((env) => runProgram(source, { env, types: ["node"] }));
  });

  it("mirror.py does the same with Python", async function () {
    const source = join(EXAMPLES, "mirror.py");
    expect(readFileSync(source, "utf8").trimEnd().split("\n").length).to.be.at.most(60);
    const python = process.env.MIRRORS_PYTHON ?? "python3";
    const available = await run(python, ["-c", "import httpx, sqlite3"]).then(
      () => true,
      () => false,
    );
    if (!available) this.skip(); // npm run test:mirrors installs httpx
    await follows(async (env) => (await run(python, [source], { env: { ...process.env, ...env } })).stdout);
  });
});
