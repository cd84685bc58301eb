import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { useAccount, useService } from "../support/use-service.ts";

const EXAMPLES = "src/docs/examples";
const run = promisify(execFile);
const python = process.env.MIRRORS_PYTHON ?? "python3";

const READ_DUCKDB = `
import duckdb, json
rows = duckdb.connect("onboarding.duckdb").execute("select id, name, version from mirror.candidates").fetchall()
print(json.dumps(rows))
`;

/** What a mirror must hold of each candidate: id, name and version. */
type Held = [string, string | null, number];

/** What Airbyte prints, one message in each line. */
interface Message {
  readonly type: string;
  readonly record?: {
    readonly data: { id: string; name?: string; version: number; _ab_cdc_deleted_at?: string | null };
  };
  readonly state?: object;
}

describe("the examples for the tools that mirrors are made with", function () {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;

  /** Runs the mirror before and after creates, changes and an erasure, and compares it with the list each time. */
  async function follows(mirror: () => Promise<Held[]>): Promise<void> {
    const ids: string[] = [];
    for (const name of ["Ada", "Grace", "Jean"])
      ids.push((await client.post("/candidates", { name, metadata: { a: "1", A: "2" } })).body.id);
    const live = async (): Promise<Held[]> =>
      (await client.get("/candidates?limit=200")).body.data
        .filter((row) => !("deleted" in row))
        .map(({ id, name, version }) => [id, name, version]);
    expect(await mirror()).to.have.deep.members(await live());
    await client.request("DELETE", `/candidates/${ids[0]}`);
    await client.patch(`/candidates/${ids[1]}`, { name: "Grace Hopper" });
    await client.post("/candidates", { name: "Barbara" });
    const held = await mirror();
    expect(held).to.have.deep.members(await live());
    expect(held).to.have.length(3);
  }

  it("dlt_source.py merges into DuckDB", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "onboarding-dlt-"));
    const env = { ...process.env, DLT_DATA_DIR: join(cwd, "dlt"), RUNTIME__DLTHUB_TELEMETRY: "false" };
    await follows(async () => {
      const source = resolve(EXAMPLES, "dlt_source.py");
      const keys = { ONBOARDING_URL: service.url, ONBOARDING_KEY: account.key };
      await run(python, [source], { cwd, env: { ...env, ...keys } });
      return JSON.parse((await run(python, ["-c", READ_DUCKDB], { cwd })).stdout) as Held[];
    });
  });

  it("airbyte-manifest.yaml gives rows and tombstones, and goes on from its state", async () => {
    const folder = mkdtempSync(join(tmpdir(), "onboarding-airbyte-"));
    const write = (name: string, value: unknown): string => {
      writeFileSync(join(folder, name), JSON.stringify(value));
      return join(folder, name);
    };
    const config = write("config.json", { url: service.url, key: account.key });
    const catalog = write("catalog.json", {
      streams: [
        {
          stream: { name: "candidates", json_schema: {}, supported_sync_modes: ["full_refresh", "incremental"] },
          sync_mode: "incremental",
          destination_sync_mode: "append_dedup",
        },
      ],
    });
    const held = new Map<string, Held>();
    let state: object[] = [];
    await follows(async () => {
      const manifest = ["--manifest-path", resolve(EXAMPLES, "airbyte-manifest.yaml")];
      const given = ["--config", config, "--catalog", catalog, "--state", write("state.json", state), ...manifest];
      const { stdout } = await run(join(python, "../source-declarative-manifest"), ["read", ...given], {
        maxBuffer: 2 ** 26,
      });
      const messages = stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Message);
      for (const { record } of messages) {
        if (record === undefined) continue;
        const { id, name = null, version, _ab_cdc_deleted_at: deletedAt } = record.data;
        if (deletedAt) held.delete(id);
        else held.set(id, [id, name, version]);
      }
      state = messages.flatMap((message) => message.state ?? []).slice(-1);
      expect(state, "a state to go on from").to.have.length(1);
      return [...held.values()];
    });
  });
});
