import { expect } from "chai";
import type { Processes, Settings } from "../../support/processes.ts";
import { useProcesses } from "../../support/use-service.ts";
import { TIMEOUT_MS } from "./blame.ts";
import { type Aftermath, type Fault, RECOVERY_MS, runFault } from "./run-fault.ts";
import { WINDOW_SECONDS } from "./windows.ts";

export const REPLICAS = 4;
/** A 503 may be this late beside other suites. late.quiet.test.ts has the bound of a quiet machine. */
const LATE_MS = 200;

/** Starts the replicas that these tests need over the given Redis. Call it after the hook that starts the Redis. */
export function useReplicasOver(redis: { readonly url: string }, settings: Settings = {}): Processes {
  const ours = { REPLICAS, LIMIT_WINDOW_SECONDS: WINDOW_SECONDS, LIMITER_TIMEOUT_MS: TIMEOUT_MS, ...settings };
  return useProcesses(() => ({ REDIS_URL: redis.url, ...ours }));
}

/**
 * Runs one fault, and expects what must hold for every fault:
 * - Every window is exact, given the admissions that Redis lost and the charges whose response was lost.
 * - A charge whose response was lost counts at most once.
 * - Each 503 comes in time. It may be late only by the time that the machine kept its replica waiting.
 * - The service recovers soon after the fault, and stays well. A 503 that the machine caused does not count.
 */
export async function expectLimitsHold(service: Processes, fault: Fault): Promise<Aftermath> {
  const seen = await runFault(service, fault);
  const { slowestOwnMs, unavailable, recoveryMs, overcharged, unanswered, breaches, relapses } = seen;
  expect(breaches).to.deep.equal([]);
  expect(slowestOwnMs, "the slowest 503").to.be.at.most(TIMEOUT_MS + LATE_MS);
  if (fault.mayGoUnnoticed !== true) expect(unavailable, "503s: the fault was felt").to.not.deep.equal([]);
  expect(recoveryMs, "the last 503 after the fault").to.be.below(RECOVERY_MS);
  expect(overcharged, `charges without an admission, of ${unanswered} unanswered ones`).to.be.at.most(unanswered);
  expect(relapses).to.deep.equal([]);
  return seen;
}

/** The same for a fault that must neither lose a charge nor charge a request that was not admitted. */
export async function expectExactLimits(service: Processes, fault: Fault): Promise<Aftermath> {
  const seen = await expectLimitsHold(service, fault);
  expect({ overcharged: seen.overcharged, lost: seen.lost }).to.deep.equal({ overcharged: 0, lost: 0 });
  return seen;
}
