import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { limitsOf, type Surface } from "../../../src/limiter/surfaces.ts";
import { useRedisServer } from "../../support/servers.ts";
import { Crowd, SURFACES } from "./crowd.ts";
import { REPLICAS, useReplicasOver } from "./expectations.ts";
import { Ledger } from "./ledger.ts";
import { type Machine, watchMachine } from "./machine.ts";
import { accountWithCandidate, logged, RECOVERY_MS } from "./run-fault.ts";
import { roomFor } from "./windows.ts";

const ENOUGH_MS = 13_000;
/**
 * Longest time from the first 503 of a replica to its last, before it counts in memory. The time in which the machine kept
 * the replica or the clients waiting comes on top.
 */
const FALLS_BACK_MS = 1_500;

describe(`${REPLICAS} replicas with LIMITER_ON_OUTAGE=local`, function () {
  this.timeout(90_000);
  const server = useRedisServer();
  const service = useReplicasOver(server, { LIMITER_ON_OUTAGE: "local", REPLICAS_EXPECTED: REPLICAS });
  let machine: Machine;
  after(() => machine?.stop());

  it("admit exactly their share each while Redis is down, and exactly the limit together once it is back", async () => {
    machine = watchMachine([...new Set(service.log.map(({ pid }) => pid))]);
    const gone = await crowdIn(() => server.kill());
    await server.restart();
    await setTimeout(RECOVERY_MS);
    const back = await crowdIn(() => undefined);

    const entries = new Ledger(gone.log, gone.account, SURFACES).entries;
    const replicas = [...new Set(entries.map(({ pid }) => pid))];
    const again = new Ledger(service.log, back.account, SURFACES, { times: back.crowd.times });
    for (const pid of replicas) {
      const own = entries.filter((entry) => entry.pid === pid);
      const ledger = new Ledger(own, gone.account, SURFACES, { limits: share, times: gone.crowd.times });
      expect(ledger.breaches(), `the share of replica ${pid}`).to.deep.equal([]);
      const refusedAt = own.filter(({ status }) => status === 503).map(({ time }) => Date.parse(time));
      const [from, to] = [Math.min(...refusedAt), Math.max(...refusedAt)];
      const waitedMs = machine.keptDecisionWaitingMs(pid, from, to);
      expect(to - from, `503s of replica ${pid}`).to.be.below(FALLS_BACK_MS + waitedMs);
    }
    expect(replicas.length).to.be.above(1);
    const unknown = again.entries.filter(({ status }) => status === 503);
    expect(again.breaches({ unknown }), "when Redis is back").to.deep.equal([]);
    expect(
      SURFACES.filter((surface) => !again.windows().some((window) => again.exhausted(surface, window))),
    ).to.deep.equal([]);
    expect([...gone.crowd.tally.failures, ...back.crowd.tally.failures]).to.deep.equal([]);
  });

  /** Runs a crowd of a new account, within one window, until all its limits are exhausted. */
  async function crowdIn(strike: () => unknown) {
    await roomFor(ENOUGH_MS);
    const { account, candidate } = await accountWithCandidate(service);
    await logged(service, account.id, () => 1);
    await strike();
    const since = service.log.length; // skips the charges for the candidate
    const crowd = new Crowd(
      service.url,
      account.keys.map(({ client }) => client.key),
      candidate,
      false,
    );
    await crowd.exhaust();
    await crowd.end();
    await logged(service, account.id, () => 1 + crowd.tally.offered - crowd.tally.failures.length);
    return { account, crowd, log: service.log.slice(since) };
  }
});

function share(surface: Surface, scale: number): ReturnType<typeof limitsOf> {
  const { account, key } = limitsOf(surface, scale);
  return { account: Math.floor(account / REPLICAS), key: Math.floor(key / REPLICAS) };
}
