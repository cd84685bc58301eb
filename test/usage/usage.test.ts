import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { createLog } from "../../src/infra/log.ts";
import { SURFACES } from "../../src/limiter/surfaces.ts";
import { type Replica, startReplica } from "../../src/process/replica.ts";
import type { UsageReport, UsageRow } from "../../src/usage/schema.ts";
import { UsageStore } from "../../src/usage/store.ts";
import { answerOf, complaintOf, mistakeOf, serversOf } from "../admin/support.ts";
import { type Operators, openOperators } from "../support/operators.ts";
import { newAccount, testConfig, type TestAccount } from "../support/service.ts";

const HOUR_MS = 3_600_000;

describe("usage", () => {
  const config = testConfig();
  // LOG_LEVEL=warn logs no requests. Usage and the alert's metric must not depend on them.
  const log = createLog("warn", { write: () => undefined });
  const env = { ...serversOf(config) };
  let operators: Operators;
  let replicas: Replica[] = [];
  before(async () => {
    operators = await openOperators(config);
  });
  after(async () => {
    await stopAll();
    await operators.mongo.db.dropDatabase();
    await operators.close();
  });

  /** Starts replicas of one service. @returns functions that create an account, and that make its client use a replica. */
  async function start(count: number): Promise<string[]> {
    replicas = await Promise.all(Array.from({ length: count }, () => startReplica(config, log)));
    return replicas.map(({ port }) => `http://127.0.0.1:${port}`);
  }
  /** A replica that stops writes what it has counted. */
  async function stopAll(): Promise<void> {
    await Promise.all(replicas.map((replica) => replica.stop(0)));
  }
  const listed = async (...args: string[]) => ((await answerOf(args, env)) as { data: unknown[] }).data;
  const usageOf = async ({ id }: TestAccount) => (await listed("usage", "--account", id)) as UsageRow[];

  /** Returns the rows' sums by key and surface, because an hour may end during a test. */
  function sums(rows: readonly UsageRow[]): Record<string, [used: number, refused: number]> {
    const all: Record<string, [number, number]> = {};
    for (const { key_id, surface, used, refused } of rows) {
      const [u, r] = all[`${key_id} ${surface}`] ?? [0, 0];
      all[`${key_id} ${surface}`] = [u + used, r + refused];
    }
    return all;
  }

  it("is removed by a replica once it is older than 30 days", async () => {
    const hour = Math.floor(Date.now() / HOUR_MS) - 32 * 24;
    const old = { account: "acct_old", hour, keyId: "key_old", surface: "list", used: 1, refused: 0 } as const;
    const store = new UsageStore(operators.mongo);
    await store.write([{ ...old, writer: "old-0" }]);
    expect(await store.find([old.account], hour, hour)).to.deep.equal([old]);
    await start(1);
    while ((await store.find([old.account], hour, hour)).length > 0) await wait(50);
    await stopAll();
  });

  it("has all that each key used and was refused, on every replica, once these have stopped", async () => {
    const urls = await start(2);
    const account = await newAccount(operators, urls[0]!);
    const other = await account.another();
    const began = Date.now();
    for (const url of urls) {
      const send = async (key: string, method: string, path: string) =>
        (await fetch(url + path, { method, headers: { Authorization: `Bearer ${key}` } })).status;
      for (let n = 0; n < 15; n++) await send(account.key, "POST", "/candidates/cand_none/start");
      await send(other.key, "GET", "/candidates/cand_none");
      for (let n = 0; n < 3; n++) await send(other.key, "GET", "/limits"); // free
    }
    await operators.accounts.revokeKey(other.keyId);
    expect((await other.client.get("/candidates")).status).to.equal(401);
    await stopAll();
    const rows = await usageOf(account);
    expect(sums(rows)).to.deep.equal({
      [`${account.keyId} start`]: [10, 20],
      [`${other.keyId} reads`]: [2, 0],
    });
    for (const { hour } of rows) {
      expect(hour).to.match(/T\d\d:00:00\.000Z$/);
      expect(Date.parse(hour)).to.be.within(began - HOUR_MS, Date.now());
    }
  });

  it("counts the requests of a flood that a replica refuses by itself, and those on a grant", async () => {
    const [url = ""] = await start(1);
    const account = await newAccount(operators, url);
    const terms = { amount: 5, expiresInHours: 1, approvedBy: "Ann", reason: "backfill" };
    await operators.grants.create({ ...terms, keyId: account.keyId, surface: "start" });
    const statuses: number[] = [];
    for (let round = 0; round < 4; round++) {
      const responses = await Promise.all(
        Array.from({ length: 50 }, () => account.client.post("/candidates/cand_none/start")),
      );
      statuses.push(...responses.map(({ status }) => status));
    }
    const refused = statuses.filter((status) => status === 429).length;
    expect(refused).to.equal(200 - 15);
    const metrics = await (await fetch(`http://127.0.0.1:${replicas[0]!.opsPort}/metrics`)).text();
    expect(metrics).to.include(`\nlimiter_account_refusals{account="${account.id}",surface="start"} ${refused}\n`);
    await stopAll();
    expect(sums(await usageOf(account))).to.deep.equal({ [`${account.keyId} start`]: [15, refused] });
  });

  it("shows a client its own account's last 24 hours for free, and no other account's", async () => {
    const [first = ""] = await start(1);
    const [account, stranger] = [await newAccount(operators, first), await newAccount(operators, first)];
    await account.client.get("/candidates");
    await stranger.client.get("/candidates/cand_none");
    await stopAll();
    const [second = ""] = await start(1);
    const read = async ({ key }: TestAccount) => {
      const response = await fetch(`${second}/limits/usage`, { headers: { Authorization: `Bearer ${key}` } });
      expect(response.status).to.equal(200);
      expect(response.headers.get("ratelimit")).to.equal(null);
      return (await response.json()) as UsageReport;
    };
    const { data, from, to, ...rest } = await read(account);
    expect(rest).to.deep.equal({ object: "usage", account_id: account.id });
    expect(Date.parse(to) - Date.parse(from)).to.equal(24 * HOUR_MS);
    expect(sums(data)).to.deep.equal({ [`${account.keyId} list`]: [1, 0] });
    expect(sums((await read(stranger)).data)).to.deep.equal({ [`${stranger.keyId} reads`]: [1, 0] });
    expect((await fetch(`${second}/limits/usage`)).status).to.equal(401);
    await stopAll();
  });

  it("says who was refused most, then who used most, of all surfaces or of one", async () => {
    const [url = ""] = await start(1);
    const flooding = await newAccount(operators, url);
    const busy = await newAccount(operators, url);
    for (let n = 0; n < 12; n++) await flooding.client.post("/candidates/cand_none/start");
    for (let n = 0; n < 20; n++) await busy.client.get("/candidates");
    await stopAll();
    type Row = { account_id: string; name: string; used: number; refused: number };
    const top = async (...args: string[]) => {
      const rows = (await listed("top", "--hours", "1", ...args)) as Row[];
      return rows.filter(({ account_id }) => [flooding.id, busy.id].includes(account_id));
    };
    const ofFlooding = { account_id: flooding.id, name: "Test", used: 10, refused: 2 };
    const ofBusy = { account_id: busy.id, name: "Test", used: 20, refused: 0 };
    expect(await top()).to.deep.equal([ofFlooding, ofBusy]);
    expect(await top("--surface", "list")).to.deep.equal([ofBusy]);
  });

  it("is not shown for an unknown account, surface or time", async () => {
    expect(await complaintOf(["usage", "--account", "acct_none"], env)).to.equal("No account has the id acct_none.");
    for (const hours of ["0", "721", "1.5", "many"])
      expect(await mistakeOf(["top", "--hours", hours], env)).to.include("/hours must be a whole number from 1 to 720");
    expect(await mistakeOf(["top", "--surface", "lists"], env)).to.include(`must be one of ${SURFACES.join(", ")}`);
  });
});
