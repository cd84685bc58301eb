import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { answerOf, serversOf } from "../../admin/support.ts";
import { type Answer, Client, expectProblem } from "../../support/client.ts";
import { type Processes, type Settings, spawnService } from "../../support/processes.ts";
import { startMongo, startRedis, type TestServer } from "../../support/servers.ts";

/** Backup and restore as in operating.md, for one `describe`: copies the servers' files, and starts new servers on a copy. */
export function useCopies() {
  let folder: string;
  let redis: TestServer;
  let mongo: TestServer;
  const servers: TestServer[] = [];
  const running: Processes[] = [];
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-restore-"));
  });
  afterEach(stop);
  after(() => rmSync(folder, { recursive: true, force: true }));

  const dirOf = (copy: string, server: "redis" | "mongo") => join(folder, copy, server);

  /** Starts both servers on the files of a copy. */
  async function startServers(copies: { redis: string; mongo: string }): Promise<void> {
    for (const server of ["redis", "mongo"] as const) mkdirSync(dirOf(copies[server], server), { recursive: true });
    redis = await startRedis({ dir: dirOf(copies.redis, "redis"), args: ["--appendonly", "yes"] });
    servers.push(redis);
    await startMongoOn(copies.mongo);
  }

  async function startMongoOn(copied: string, port?: number): Promise<void> {
    mongo = await startMongo({ dir: dirOf(copied, "mongo"), ...(port !== undefined && { port }) });
    servers.push(mongo);
  }

  const urls = () => ({ REDIS_URL: redis.url, MONGODB_URL: `${mongo.url}/onboarding` });

  /** Starts a replica on these servers. */
  async function startReplica(settings: Settings = {}): Promise<Processes> {
    const replica = await spawnService({ ...urls(), ...settings });
    running.push(replica);
    return replica;
  }

  async function start(copies: { redis: string; mongo: string }, settings?: Settings): Promise<Processes> {
    await startServers(copies);
    return startReplica(settings);
  }

  /** Stops all processes and servers. The files stay. */
  async function stop(): Promise<void> {
    const stopping = running.splice(0).map(async ({ child, operators }) => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      await operators.close();
    });
    await Promise.all(stopping);
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  }

  /** Copies the files of these servers, by default of both. */
  function copy(from: string, to: string, of: readonly ("redis" | "mongo")[] = ["redis", "mongo"]): void {
    for (const server of of) cpSync(dirOf(from, server), dirOf(to, server), { recursive: true });
  }

  const admin = (...args: string[]) => answerOf(args, serversOf(urls()));

  return {
    copy,
    start,
    startServers,
    startReplica,
    stop,
    admin,
    redisUrl: () => redis.url,
    mongoUrl: () => urls().MONGODB_URL,
    /** Stops MongoDB, and starts it again on the files of a copy. */
    async replaceMongo(copied: string): Promise<void> {
      const { port } = mongo;
      await servers.pop()?.stop();
      await startMongoOn(copied, port);
    },
  };
}

/** Repeats a request until its response is as expected: ten times a second, because a key may read only 300 times an hour. */
export async function until(request: () => Promise<Answer>, fits: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await request();
    if (fits(answer)) return answer;
    expect(answer.status, "a client that polls must not run out of requests").not.to.equal(429);
    await wait(100);
  }
}

export const isServed = ({ status }: Answer) => status === 200;

export async function expectClosed({ url, opsUrl }: Processes, key: string): Promise<void> {
  const refused = await new Client(url, key).post("/candidates");
  expectProblem(refused, 503, "service_restoring");
  expect(Number(refused.headers.get("retry-after"))).to.be.above(0);
  const ready = await fetch(`${opsUrl}/readyz`);
  expect([ready.status, ((await ready.json()) as { faults: string[] }).faults]).to.deep.equal([503, ["restoring"]]);
}
