import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { Answer } from "../support/client.ts";
import { useProcesses, useSharedAccount } from "../support/use-service.ts";
import { newKey } from "./support.ts";

/** How many requests lose their replica, at the least; 200 take about a minute on two cores. */
const TRIALS = Number(process.env.IDEMPOTENCY_TRIALS ?? 40);
/** Requests that are on their way at any moment. */
const LANES = 64;

/** A request that is sent until it is answered, always with the same key, which is the name of what it makes too. */
interface Trial {
  key: string;
  path: string;
  /** When it lost its replica, in milliseconds since the epoch: by this machine's clock, which is Redis's as well. */
  cutAt?: number;
  /** How often it was told that it is in flight. */
  waits: number;
  answer?: Answer;
}

/** Where in its work a request was when its replica was killed, as its later answers give away. */
const MOMENTS = [
  "before the key's record",
  "before what it makes",
  "before its answer was kept",
  "before its answer was sent",
] as const;

function momentOf({ cutAt = 0, waits, answer }: Trial): (typeof MOMENTS)[number] | undefined {
  if (answer === undefined) return undefined;
  if (answer.headers.get("idempotent-replayed") === "true") return "before its answer was sent";
  if (waits === 0) return "before the key's record"; // the retry found nobody's lease
  return Date.parse(answer.body.created_at) > cutAt ? "before what it makes" : "before its answer was kept";
}

describe("a replica that is killed -9 at a random moment", function () {
  this.timeout(100_000 + TRIALS * 2_000);
  const service = useProcesses({ REPLICAS: 2, LIMIT_SCALE: 100_000, LIMITER_TIMEOUT_MS: 5_000 });
  const { client } = useSharedAccount(service);

  const trials: Trial[] = [];
  const cut = () => trials.filter(({ cutAt }) => cutAt !== undefined);

  /** As a careful client does: the same request with the same key until it is answered. */
  async function carryOut(trial: Trial): Promise<void> {
    const { key, path } = trial;
    while (trial.answer === undefined) {
      const answer = await client.post(path, { name: key }, { "Idempotency-Key": key }).catch(() => undefined);
      if (answer === undefined) trial.cutAt ??= Date.now();
      else if (answer.body.code !== "idempotency_in_flight") trial.answer = answer;
      else {
        trial.waits++;
        await setTimeout(500);
      }
    }
  }

  /** The id of what it made; undefined where its replica was killed: it waits for its lease then, and nobody waits for it. */
  async function attempt(path: string, ends: Promise<void>[]): Promise<string | undefined> {
    const trial: Trial = { key: newKey(), path, waits: 0 };
    trials.push(trial);
    const end = carryOut(trial);
    ends.push(end);
    while (trial.answer === undefined && trial.cutAt === undefined) await Promise.race([end, setTimeout(50)]);
    return trial.answer?.body.id;
  }

  /** Kills replicas under load until so many more requests were cut off, and waits until each of them is answered. */
  async function round(more: number): Promise<void> {
    const enough = cut().length + more;
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
    // One that is at work: connections stay with their replica, so a new one may have none yet.
    const { pid } = await service.logged(({ surface }) => surface === "create" || surface === "writes");
    await setTimeout(Math.random() * 50);
    process.kill(pid, "SIGKILL");
    await replaced;
  }

  it(`never makes a retry lose what it made, nor make it twice: ${TRIALS} trials and more, at every moment of the work`, async () => {
    let untried: string[];
    do {
      await round(Math.max(TRIALS - cut().length, 1));
      await expectOneForEach();
      const tried = new Set(cut().map(momentOf));
      untried = MOMENTS.filter((moment) => !tried.has(moment));
    } while (untried.length > 0);
    expect(cut()).to.have.length.at.least(TRIALS);
  });

  /** Every trial made one thing, the one it was answered with, and nothing else is there. */
  async function expectOneForEach(): Promise<void> {
    for (const { answer, path } of trials) expect(answer?.status, path).to.equal(201);
    const answered = new Set(trials.map(({ key, answer }) => `${key} ${answer?.body.id}`));
    const stored = new Set(await everything());
    const lost = [...answered].filter((thing) => !stored.has(thing));
    const more = [...stored].filter((thing) => !answered.has(thing));
    expect({ lost, more }).to.deep.equal({ lost: [], more: [] });
    expect(stored.size).to.equal(trials.length);
  }

  /** Name and id of every candidate, document and reference. */
  async function everything(): Promise<string[]> {
    const all: string[] = [];
    for (let cursor = ""; ;) {
      const { body } = await client.get(`/candidates?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`);
      const things = body.data.flatMap((candidate) => [candidate, ...candidate.documents, ...candidate.references]);
      all.push(...things.map(({ name, id }) => `${name} ${id}`));
      if (!body.has_more) return all;
      ({ cursor } = body);
    }
  }
});
