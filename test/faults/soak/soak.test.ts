import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { isAlive } from "../../../src/dev/servers-file.ts";
import { SURFACES, type Surface } from "../../../src/limiter/surfaces.ts";
import { startProxy } from "../../limiter/proxy.ts";
import { LoadClient } from "../../support/load.ts";
import { accountWithKeys, type Processes, spawnService } from "../../support/processes.ts";
import { startMongo, startRedis } from "../../support/servers.ts";
import { REQUESTS } from "../../support/requests.ts";
import { Tally } from "../tally.ts";
import { Books } from "./books.ts";
import { MemoryWatch } from "./memory.ts";
import { FaultInjector } from "./fault-injector.ts";

const MINUTES = Number(process.env.SOAK_MINUTES ?? 30);
const REPLICAS = 4;
const WINDOW_SECONDS = 10;
const ACCOUNTS = 3;
const KEYS = 3;
/** How long a client waits after a refusal. */
const REFUSED_MS = 50;
const SAMPLE_MS = 5_000;
/** Shorter runs do not judge memory: in its first minutes, a process still grows to its working size. */
const JUDGED_FROM_MINUTES = 10;
const GROWTH = 1.15;
/** Errors of requests whose replica was killed. */
const BROKEN_OFF = /ECONNRESET|socket hang up/;

describe(`${REPLICAS} replicas under full load for ${MINUTES} minutes, with random faults,`, function () {
  this.timeout(0);

  it("keep every window exact and their memory bounded", async () => {
    const redis = await startRedis();
    const proxy = await startProxy(redis.port);
    const mongo = await startMongo();
    const settings = {
      REPLICAS,
      LIMIT_WINDOW_SECONDS: WINDOW_SECONDS,
      LIMITER_TIMEOUT_MS: 500,
      REDIS_URL: proxy.url,
      MONGODB_URL: `${mongo.url}/soak`,
    };
    const service = await spawnService(settings);
    const accounts = [];
    for (let n = 0; n < ACCOUNTS; n++) accounts.push(await accountWithKeys(service, KEYS));
    const candidates = await Promise.all(
      accounts.map(async ({ keys }) => (await keys[0]!.client.post("/candidates")).body.id),
    );
    const surfaces = await surfacesOf(service, accounts[0]!.keys[0]!.client.key, candidates[0]!);

    /** The process ids of all replicas so far. */
    const replicas = new Set<number>();
    const notice = (): void => {
      for (const { pid, msg } of service.log) if (msg === "serving") replicas.add(pid);
    };
    notice();
    const [survivor = 0] = replicas; // never killed, so that its memory can be watched to the end
    const memory = new MemoryWatch(survivor, SAMPLE_MS);
    const books = new Books(accounts, surfaces, WINDOW_SECONDS);
    const injector = new FaultInjector({
      redis,
      proxy,
      mongo,
      replicas: () => [...replicas].filter((pid) => pid !== survivor && isAlive(pid)),
    });
    const account = (): void => {
      notice();
      books.enter(service.log, injector.injected, Date.now());
    };
    const accounting = setInterval(account, 1_000);

    const tally = new Tally();
    const until = Date.now() + MINUTES * 60_000;
    const lanes = accounts.flatMap(({ keys }, n) =>
      keys.flatMap(({ client }) =>
        surfaces.map((surface) => lane(service.url, surface, client.key, candidates[n]!, tally, until)),
      ),
    );
    await Promise.all(lanes);
    await injector.end();
    clearInterval(accounting);
    memory.end();
    account();

    process.stdout.write(
      `      ${tally.offered} requests, ${injector.injected.length} faults; ${books.audited} windows audited, ${books.exact} exhausted and exact\n`,
    );
    await service.stop();
    proxy.close();
    await Promise.all([redis.stop(), mongo.stop()]);

    expect(books.breaches).to.deep.equal([]);
    expect(
      tally.failures.filter((failure) => !BROKEN_OFF.test(failure)),
      "answers that are none",
    ).to.deep.equal([]);
    expect(books.exact, "windows without a fault, exhausted, exact").to.be.above(0);
    if (MINUTES < JUDGED_FROM_MINUTES) return;
    expect(memory.medianMb(0.75, 1), "memory of a replica in its last quarter, in MB").to.be.below(
      GROWTH * memory.medianMb(0.25, 0.5),
    );
  });
});

/** Returns the surfaces that have an endpoint. */
async function surfacesOf(service: Processes, key: string, candidate: string): Promise<Surface[]> {
  const load = new LoadClient(service.url, 1);
  const found: Surface[] = [];
  for (const surface of SURFACES) {
    const { headers } = await load.send(REQUESTS[surface](key, candidate));
    if (headers["ratelimit"] !== undefined) found.push(surface);
  }
  load.close();
  return found;
}

async function lane(
  url: string,
  surface: Surface,
  key: string,
  candidate: string,
  tally: Tally,
  until: number,
): Promise<void> {
  const load = new LoadClient(url, 1);
  while (Date.now() < until) {
    const { response } = await tally.send(load, REQUESTS[surface](key, candidate));
    if (response === undefined || response.status >= 300) await setTimeout(REFUSED_MS);
  }
  load.close();
}
