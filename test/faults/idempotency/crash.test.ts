import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { Answer } from "../../support/client.ts";
import { useProcesses, useSharedAccount } from "../../support/use-service.ts";
import { newKey } from "../../idempotency/support.ts";

/** Minimum number of requests whose replica is killed. 200 take about a minute on two cores. */
const TRIALS = Number(process.env.IDEMPOTENCY_TRIALS ?? 40);
/** Loops that send requests at the same time. */
const LANES = 64;

/** A request that is retried with the same key until it is answered. The key is also the name of what it creates. */
interface Trial {
  key: string;
  path: string;
  /** When its replica was killed, in milliseconds since the epoch. Redis runs on this machine and has the same clock. */
  cutAt?: number;
  /** How many times it was answered with idempotency_in_flight. */
  waits: number;
  response?: Answer;
}

/** How far a request's work had come when its replica was killed, inferred from the responses to its retries. */
const MOMENTS = [
  "before the key's record was written",
  "before the resource was created",
  "before the answer was sent",
] as const;

function momentOf({ cutAt = 0, waits, response }: Trial): (typeof MOMENTS)[number] | undefined {
  if (response === undefined) return undefined;
  // The outcome is stored before it is sent.
  if (response.headers.get("idempotent-replayed") === "true") return "before the answer was sent";
  if (waits === 0) return "before the key's record was written"; // the retry found no lease
  return Date.parse(response.body.created_at) > cutAt
    ? "before the resource was created"
    : "before the answer was sent";
}

describe("a replica killed with SIGKILL at a random moment", function () {
  this.timeout(100_000 + TRIALS * 2_000);
  const service = useProcesses({ REPLICAS: 2, LIMIT_SCALE: 100_000, LIMITER_TIMEOUT_MS: 5_000 });
  const { client } = useSharedAccount(service);

  const trials: Trial[] = [];
  const killed = new Set<number>();
  const cut = () => trials.filter(({ cutAt }) => cutAt !== undefined);

  /** Sends the same request with the same key until it is answered, as a careful client does. */
  async function sendUntilAnswered(trial: Trial): Promise<void> {
    const { key, path } = trial;
    while (trial.response === undefined) {
      const response = await client.post(path, { name: key }, { "Idempotency-Key": key }).catch(() => undefined);
      if (response === undefined) trial.cutAt ??= Date.now();
      else if (response.body.code !== "idempotency_in_flight") trial.response = response;
      else {
        trial.waits++;
        await setTimeout(500);
      }
    }
  }

  /**
   * Returns the id of what the request created, or undefined if its replica was killed. The request is then retried in
   * the background until the lease of the killed attempt expires.
   */
  async function attempt(path: string, ends: Promise<void>[]): Promise<string | undefined> {
    const trial: Trial = { key: newKey(), path, waits: 0 };
    trials.push(trial);
    const end = sendUntilAnswered(trial);
    ends.push(end);
    while (trial.response === undefined && trial.cutAt === undefined) await Promise.race([end, setTimeout(50)]);
    return trial.response?.body.id;
  }

  /** Kills replicas under load until `count` further requests were cut off, then waits until each of them is answered. */
  async function round(count: number): Promise<void> {
    const enough = cut().length + count;
    const ends: Promise<void>[] = [];
    const lane = async () => {
      while (cut().length < enough) {
        const candidate = await attempt("/candidates", ends);
        if (candidate === undefined) continue;
        await attempt(`/candidates/${candidate}/documents`, ends);
        await attempt(`/candidates/${candidate}/references`, ends);
      }
    };
    const lanes = Array.from({ length: LANES }, lane);
    while (cut().length < enough) await kill();
    await Promise.all(lanes);
    await Promise.all(ends);
  }

  async function kill(): Promise<void> {
    const replaced = service.logged(({ msg }) => msg === "serving");
    // Pick a busy replica: clients keep their connections, so a new replica may have none yet.
    // A line of a replica that was killed before can still arrive.
    const busy = ["create", "writes"];
    const { pid } = await service.logged(({ surface, pid: its }) => busy.includes(`${surface}`) && !killed.has(its));
    killed.add(pid);
    await setTimeout(Math.random() * 50);
    process.kill(pid, "SIGKILL");
    await replaced;
  }

  it(`neither loses nor duplicates what a request creates, in at least ${TRIALS} trials over every stage of the work`, async () => {
    let untested: string[];
    do {
      await round(Math.max(TRIALS - cut().length, 1));
      await expectOneForEach();
      const tested = new Set(cut().map(momentOf));
      untested = MOMENTS.filter((moment) => !tested.has(moment));
    } while (untested.length > 0);
    expect(cut()).to.have.length.at.least(TRIALS);
  });

  /** Expects that each trial created exactly the resource in its response, and that nothing else is stored. */
  async function expectOneForEach(): Promise<void> {
    for (const { response, path } of trials) expect(response?.status, path).to.equal(201);
    const answered = new Set(trials.map(({ key, response }) => `${key} ${response?.body.id}`));
    const stored = new Set(await everything());
    const lost = [...answered].filter((thing) => !stored.has(thing));
    const more = [...stored].filter((thing) => !answered.has(thing));
    expect({ lost, more }).to.deep.equal({ lost: [], more: [] });
    expect(stored.size).to.equal(trials.length);
  }

  /** Returns the name and id of every candidate, document and reference. */
  async function everything(): Promise<string[]> {
    const all: string[] = [];
    for (let cursor = ""; ;) {
      const { body } = await client.get(`/candidates?limit=1000${cursor === "" ? "" : `&cursor=${cursor}`}`);
      const things = body.data.flatMap((candidate) => [candidate, ...candidate.documents, ...candidate.references]);
      all.push(...things.map(({ name, id }) => `${name} ${id}`));
      if (!body.has_more) return all;
      ({ cursor } = body);
    }
  }
});
