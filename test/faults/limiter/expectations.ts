import { expect } from "chai";
import type { Processes, Settings } from "../../support/processes.ts";
import { useProcesses } from "../../support/use-service.ts";
import { record } from "../report.ts";
import { type Aftermath, type Fault, RECOVERY_MS, suffer } from "./suffer.ts";
import { WINDOW_SECONDS } from "./windows.ts";

export const REPLICAS = 4;
/** Above the default, because Redis, MongoDB, the replicas and the clients may share two cores here. */
export const TIMEOUT_MS = 200;
const LATE_MS = 50;
/** The limiter's own words for an answer that was not there in time. */
const LATE_ANSWER = /did not answer within/;

export const EXACT = "exact, to the request; 503 in time; well in 2 s";

/** The service as these cases need it, over that Redis. Call it after what starts the Redis. */
export function useReplicasOver(redis: { readonly url: string }, settings: Settings = {}): Processes {
  const ours = { REPLICAS, LIMIT_WINDOW_SECONDS: WINDOW_SECONDS, LIMITER_TIMEOUT_MS: TIMEOUT_MS, ...settings };
  return useProcesses(() => ({ REDIS_URL: redis.url, ...ours }));
}

/**
 * One case: the fault, its row in the table, and what must hold whatever the fault. That is: every window exact, given what
 * Redis has forgotten or charged without an answer (never more than once, each); 503 in time, longer only by what the machine kept even an idle process
 * waiting; well again soon after, and for good.
 */
export async function endure(
  service: Processes,
  names: { fault: string; held: string },
  fault: Fault,
): Promise<Aftermath> {
  const seen = await suffer(service, fault);
  const { numbers, overcharged, unanswered, breaches, relapses, heldUpMs } = seen;
  const notes = [
    ...(overcharged > 0 ? [`${overcharged} of ${unanswered} charges counted whose answer was lost`] : []),
    ...(heldUpMs > LATE_MS ? [`the machine held up an idle process for ${Math.round(heldUpMs)} ms`] : []),
  ];
  record({ ...names, ...numbers, ...(notes.length > 0 && { note: notes.join("; ") }) });
  expect(breaches).to.deep.equal([]);
  expect(numbers.slowestMs, "the slowest 503").to.be.at.most(TIMEOUT_MS + LATE_MS + heldUpMs);
  if (fault.painless !== true) expect(numbers.unavailable, "503s: the fault was felt").to.be.above(0);
  expect(numbers.recoveryMs, "the last 503 after the fault").to.be.below(RECOVERY_MS);
  expect(overcharged, `charges without an admission, of ${unanswered} unanswered ones`).to.be.at.most(unanswered);
  expect(relapses.filter((line) => heldUpMs <= LATE_MS || !LATE_ANSWER.test(line))).to.deep.equal([]);
  return seen;
}

/** The same, of a fault that may cost nobody a request, one way or the other. */
export async function endureExactly(service: Processes, fault: string, how: Fault): Promise<Aftermath> {
  const seen = await endure(service, { fault, held: EXACT }, how);
  expect({ overcharged: seen.overcharged, lost: seen.numbers.lost }).to.deep.equal({ overcharged: 0, lost: 0 });
  return seen;
}
