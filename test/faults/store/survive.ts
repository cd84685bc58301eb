import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { LoadClient } from "../../support/load.ts";
import { everyCandidate, Mirror, missedBy } from "../replicas/feed.ts";
import type { Fleet } from "../replicas/fleet.ts";
import { Tally } from "../tally.ts";
import { Pipeline } from "./pipeline.ts";

/** Tolerance for a busy test machine. */
const LATE_MS = 1_000;
const RECOVERY_MS = 5_000;
const LANES = 4;
const PATIENCE_MS = 20_000;

/** A fault of MongoDB under load. */
export interface MongoFault {
  /** Milliseconds between `begin` and `end`. */
  readonly lastsMs: number;
  /** Set if the driver's retries may outlast the fault. Otherwise one that lasts longer than the timeout must cause 503s. */
  readonly maybeBridged?: boolean;
  readonly begin: () => Promise<void> | void;
  readonly end: () => Promise<void> | void;
}

/**
 * Writes and mirrors through a fleet during a fault of MongoDB. Expects that each 503 comes in time, no acknowledged write
 * is lost, no partial write is readable, the feed is complete, and the service recovers by itself.
 */
export async function survive(
  fleet: Fleet,
  storeTimeoutMs: number,
  { lastsMs, maybeBridged = false, begin, end }: MongoFault,
): Promise<void> {
  const { id } = await fleet.operators.accounts.createAccount({ name: "Test" });
  const { key } = await fleet.operators.accounts.createKey({ accountId: id, name: "test" });
  const load = new LoadClient(fleet.url, LANES + 2);
  const tally = new Tally(fleet.members.map(({ child }) => child.pid));
  const pipeline = new Pipeline(load, key, tally);
  const torn = new Set<string>();
  const mirror = new Mirror(load, key, (row) => pipeline.isTorn(row) && torn.add(row.id));
  const reading = mirror.follow();
  const writing = pipeline.write(LANES);
  let recoveryMs: number;
  try {
    await moreAdmitted(tally);
    await begin();
    await setTimeout(lastsMs);
    await end();
    recoveryMs = await recovered(fleet, key);
    await moreAdmitted(tally);
  } finally {
    await Promise.all([writing.end(), reading.end()]);
  }

  const store = await everyCandidate(load, key);
  const halves = await pipeline.partialWritesIn(store, fleet.url);
  const lost = pipeline.lostFrom(store);
  const missed = await missedBy(mirror, load, key);
  load.close();
  expect(halves).to.deep.equal([]);
  expect([...torn], "read in halves meanwhile").to.deep.equal([]);
  if (lastsMs > storeTimeoutMs && !maybeBridged) expect(tally.unavailable, "503s: the fault was felt").to.be.above(0);
  expect(lost).to.equal(0);
  expect(missed).to.deep.equal([]);
  expect(tally.failures, failuresLogged(fleet)).to.deep.equal([]);
  expect(tally.withoutRetryAfter).to.deep.equal([]);
  expect(tally.slowestUnavailableMs).to.be.below(storeTimeoutMs + LATE_MS);
  expect(recoveryMs).to.be.below(RECOVERY_MS);
  expect(fleet.members.map(({ child }) => child.exitCode)).to.deep.equal(fleet.members.map(() => null));
}

/** Returns the replicas' log lines of responses with status 500. */
function failuresLogged({ members }: Fleet): string {
  return members
    .flatMap(({ log }) => log.filter(({ status }) => status === 500).map((line) => JSON.stringify(line)))
    .join("\n");
}

/** Waits until ten more writes have been acknowledged. @throws after 20 s. */
async function moreAdmitted(tally: Tally): Promise<void> {
  const goal = tally.admitted + 10;
  for (const deadline = performance.now() + PATIENCE_MS; tally.admitted < goal; await setTimeout(10)) {
    if (performance.now() > deadline)
      throw new Error(`No ten writes were acknowledged within 20 s: ${tally.failures.join("; ")}`);
  }
}

/** Returns the milliseconds until every replica has answered a read again: each notices on its own. @throws after 20 s. */
async function recovered({ members }: Fleet, key: string): Promise<number> {
  const began = performance.now();
  for (const { port } of members) {
    const load = new LoadClient(`http://127.0.0.1:${port}`, 1);
    for (;;) {
      const { status, body } = await load.send({ method: "GET", path: "/candidates?limit=1", key });
      if (status === 200) break;
      if (performance.now() - began > PATIENCE_MS) throw new Error(`Reads do not recover: ${body}`);
      await setTimeout(20);
    }
    load.close();
  }
  return Math.round(performance.now() - began);
}
