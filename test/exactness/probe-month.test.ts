import { expect } from "chai";
import { Redis } from "ioredis";
import { answerOf, serversOf } from "../admin/support.ts";
import { useRedisServer } from "../support/servers.ts";
import { useProcesses } from "../support/use-service.ts";
import { useStarted } from "../support/use-started.ts";
import { FULL } from "./size.ts";
import { startSwitch } from "./switch.ts";

interface Result {
  exact: boolean | null;
  reasons: string[];
}

/** Number of hourly runs: a month of them, or as many as fit into about ten seconds. */
const RUNS = FULL ? 720 : 16;
/** Of so many runs, one meets each kind of trouble. */
const TROUBLE_EVERY = 8;

describe("a month of the probe", function () {
  this.timeout(RUNS * 20_000);
  const forgetful = { args: ["--appendonly", "no", "--save", ""] };
  const [one, other] = [useRedisServer(forgetful), useRedisServer(forgetful)];
  const redis = useStarted(
    "The switch",
    () => startSwitch(one.port),
    (proxy) => proxy.close(),
  );
  const service = useProcesses(() => ({ REPLICAS: 2, REDIS_URL: `redis://127.0.0.1:${redis.port}` }));

  const clients = new Map<number, Redis>();
  after(() => clients.forEach((client) => client.disconnect()));
  const at = (port: number): Redis => {
    const known = clients.get(port) ?? new Redis(port, "127.0.0.1").on("error", () => undefined);
    clients.set(port, known);
    return known;
  };
  let [master, replica] = [0, 0];
  before(async () => {
    [master, replica] = [one.port, other.port];
    await follow();
  });

  /** Makes this Redis a replica of the master, and waits until it has a full copy. */
  async function follow(): Promise<void> {
    await at(replica).replicaof("127.0.0.1", master);
    while (!(await at(replica).info("replication")).includes("master_link_status:up"));
  }

  const probe = () => {
    const env = { ...serversOf(service.config), LIMIT_WINDOW_SECONDS: "86400", ADMIN_ACTOR: "probe" };
    const args = ["limits", "probe", "--url", service.url, "--settle-seconds", "0"];
    return answerOf(args, env) as Promise<Result>;
  };

  /** What happens in the midst of a run. */
  const TROUBLE: Record<string, () => Promise<void>> = {
    async "a failover that loses counts"() {
      await at(replica).replicaof("NO", "ONE");
      await new Promise(setImmediate);
      redis.to(replica);
      [master, replica] = [replica, master];
    },
    async "a Redis that loses all its data"() {
      await at(master).flushall();
    },
    async "a restart that loses all data"() {
      const server = one.port === master ? one : other;
      await server.kill();
      await server.restart();
    },
  };

  it(`has no false alarm in ${RUNS} hours`, async () => {
    const kinds = Object.keys(TROUBLE);
    const seen: Record<string, (boolean | null)[]> = {};
    expect((await probe()).exact).to.equal(true);
    const id = (await service.operators.accounts.listAccounts()).data[0]!.id;
    const ledger = `{${id}}:ledger`;
    for (let hour = 0; hour < RUNS; hour++) {
      await at(master).del(ledger); // as the first charge of the next window does
      const kind = kinds[hour % TROUBLE_EVERY] ?? "none";
      let running = true;
      const probing = probe().finally(() => (running = false));
      if (kind !== "none") {
        // In the midst of the run, a little later in each: among the requests that it offers first, of 86 or more.
        const used = 1 + (Math.floor(hour / TROUBLE_EVERY) % 9);
        while (running && Number(await at(master).hget(ledger, "start")) < used);
        await TROUBLE[kind]!();
      }
      const { exact, reasons } = await probing;
      expect(exact, `hour ${hour}, ${kind}: ${reasons.join()}`).not.to.equal(false);
      (seen[kind] ??= []).push(exact);
      await at(master).del(`{${id}}:witness`); // the mark of a run that was cut off may have come back
      if (kind !== "none") await follow();
    }
    expect(new Set(seen["none"]), JSON.stringify(seen)).to.deep.equal(new Set([true]));
    for (const kind of kinds) expect(seen[kind], kind).to.include(null);
  });
});

describe("the probe at the edges of windows", function () {
  this.timeout(120_000);
  const service = useProcesses({ LIMIT_WINDOW_SECONDS: 2 });

  it("finds nothing inexact", async () => {
    const env = { ...serversOf(service.config), LIMIT_WINDOW_SECONDS: "2", ADMIN_ACTOR: "probe" };
    const results: (boolean | null)[] = [];
    for (let run = 0; run < 12; run++) {
      const args = ["limits", "probe", "--url", service.url, "--settle-seconds", "0"];
      const { exact, reasons } = (await answerOf(args, env)) as Result;
      expect(exact, reasons.join()).not.to.equal(false);
      results.push(exact);
    }
    expect(results).to.include(null);
  });
});
