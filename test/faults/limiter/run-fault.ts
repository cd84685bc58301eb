import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { Usage } from "../../../src/limiter/usage.ts";
import { accountWithKeys, type Processes } from "../../support/processes.ts";
import { Crowd, SURFACES } from "./crowd.ts";
import { type Counter, counted, type Entry, Ledger } from "./ledger.ts";
import { decidedAt, isOfMachine, withoutWait } from "./blame.ts";
import { type Machine, watchMachine } from "./machine.ts";
import { beforeEdge, roomFor, SHORT_WINDOW_SECONDS, WINDOW_SECONDS, windowOf } from "./windows.ts";

/** Maximum time until the service works again after a fault. */
export const RECOVERY_MS = 2_000;

const BEFORE_MS = 1_000;
/** The service counts as recovered after this long without a 503. */
const CALM_MS = 600;
const GIVE_UP_MS = 8_000;
/** Errors of ioredis for a command that it did not send, because there was no connection. */
const NOT_SENT = /Stream isn't writeable|Connection is closed and/;
/** Time after a fault for recovery, and for exhausting the limits. */
const AFTER_MS = 6_000;

const FIRST_ATTEMPTS = 10;

type Account = Awaited<ReturnType<typeof accountWithKeys>>;

export interface Fault {
  strike(accountId: string): unknown;
  /** Ends the fault. Resolves when Redis accepts commands again. */
  heal(accountId: string): unknown;
  lastsMs?: number;
  /** Strike and heal while no request is in flight, so that no charge runs whose response is lost or arrives too late. */
  whileIdle?: boolean;
  /** The fault may pass without a single 503. */
  mayGoUnnoticed?: boolean;
  /** Let the window end while the fault lasts. The service then has SHORT_WINDOW_SECONDS. */
  acrossWindowEdge?: boolean;
  /** Resolves when the fault has no effect any more. */
  settled?(): Promise<void>;
  /** Maximum duration of `settled`, so that it ends within the fault's window. */
  settlesWithinMs?: number;
}

/** The effect of a fault on an account's requests and limits. */
export interface Aftermath {
  /** Describes each 503 response. */
  unavailable: string[];
  /** Admissions that Redis lost. */
  lost: number;
  /** From the end of the fault to the last 503 that followed from it. */
  recoveryMs: number;
  /** Charges without an admission. */
  overcharged: number;
  /** Requests that were answered 503 after their charge was sent. Such a charge may have counted. */
  unanswered: number;
  /** Describes everything that went wrong and that no fault excuses. */
  breaches: string[];
  /** Describes the 503 responses after recovery that are not the machine's doing. */
  relapses: string[];
  /** The slowest decision without the time that the machine kept its replica waiting, in milliseconds. */
  slowestOwnMs: number;
}

/** Puts a service under the load of a new account, causes and heals the fault, and continues until the limits are exhausted. */
export async function runFault(service: Processes, fault: Fault): Promise<Aftermath> {
  const { lastsMs = 2_000, settlesWithinMs = 0 } = fault;
  const { account, candidate } = await accountWithCandidate(service);
  await (fault.acrossWindowEdge
    ? beforeEdge(BEFORE_MS + lastsMs / 2)
    : roomFor(BEFORE_MS + lastsMs + settlesWithinMs + AFTER_MS));
  const machine = watchMachine([...new Set(service.log.map(({ pid }) => pid))]);
  const crowd = new Crowd(
    service.url,
    account.keys.map(({ client }) => client.key),
    candidate,
  );
  const allLogged = (): Promise<void> =>
    logged(service, account.id, () => crowd.tally.offered - crowd.tally.failures.length + 1); // plus the request that created the candidate
  const ledger = (): Ledger => new Ledger(service.log, account, SURFACES, { times: crowd.times });
  try {
    await setTimeout(BEFORE_MS);
    const struckAt = Date.now();
    await (fault.whileIdle ? crowd.whilePaused(() => fault.strike(account.id)) : fault.strike(account.id));
    await setTimeout(lastsMs);
    await (fault.whileIdle ? crowd.whilePaused(() => fault.heal(account.id)) : fault.heal(account.id));
    const healedAt = Date.now();
    await calm(ledger, healedAt);
    await fault.settled?.();
    const drift = await crowd.whilePaused(async () => {
      await allLogged();
      const windowSeconds = fault.acrossWindowEdge ? SHORT_WINDOW_SECONDS : WINDOW_SECONDS;
      return driftOf(ledger(), await usagesOf(service, account), windowSeconds);
    });
    await crowd.exhaust();
    await crowd.end();
    await allLogged();
    return judge(ledger(), crowd, drift, { struckAt, healedAt, machine });
  } finally {
    await crowd.end();
    await machine.stop();
  }
}

/**
 * Makes an account with three keys, and its candidate. A busy machine may return 503 even before the fault. That charge may
 * have counted, so the next attempt has another account.
 */
export async function accountWithCandidate(service: Processes): Promise<{ account: Account; candidate: string }> {
  for (let attempt = 1; attempt <= FIRST_ATTEMPTS; attempt++) {
    const account = await accountWithKeys(service, 3);
    const { status, body } = await account.keys[0]!.client.post("/candidates");
    if (status === 201) return { account, candidate: body.id };
    expect(status).to.equal(503);
  }
  throw new Error(`The first requests of ${FIRST_ATTEMPTS} accounts were answered 503`);
}

/** For every counter, admissions minus charges in the window in which the fault ended. */
interface Drift {
  window: number;
  measuredAt: number;
  of(counter: Counter): number;
}

function driftOf(ledger: Ledger, usages: ReadonlyMap<string, Usage>, windowSeconds: number): Drift {
  const window = windowOf([...usages.values()].at(-1)?.resetMs ?? 0, windowSeconds);
  const name = ({ surface, keyId = "" }: Counter): string => `${surface} ${keyId}`;
  const drifts = new Map(
    ledger.counters.map((counter) => [
      name(counter),
      ledger.admitted(counter, window).length - counted(counter, usages),
    ]),
  );
  return { window, measuredAt: Date.now(), of: (counter) => drifts.get(name(counter)) ?? 0 };
}

function judge(
  ledger: Ledger,
  { tally, invalid503s }: Crowd,
  drift: Drift,
  { struckAt, healedAt, machine }: { struckAt: number; healedAt: number; machine: Machine },
): Aftermath {
  const unavailable = ledger.entries.filter(({ status }) => status === 503);
  const unanswered = unavailable.filter(({ error }) => !NOT_SENT.test(error?.message ?? ""));
  const ours = unavailable.filter((entry) => decidedAt(entry) > healedAt && !isOfMachine(entry, machine));
  const late = ours.map(decidedAt);
  const recoveredAt = Math.max(calmSince(healedAt, late), ...late.filter((at) => at < healedAt + RECOVERY_MS));
  const drifts = SURFACES.map((surface) => drift.of({ surface }));
  const unexhausted = SURFACES.filter(
    (surface) => !ledger.windows().some((window) => window >= drift.window && ledger.exhausted(surface, window)),
  );
  const describe = (entry: Entry): string => {
    const [at, cause] = [decidedAt(entry), entry.error?.message ?? ""];
    const keptMs = machine.keptDecisionWaitingMs(entry.pid, at - entry.ms, at);
    return `${at - healedAt} ms after the fault: 503 in ${entry.ms} ms, ${cause}; the machine took ${keptMs} ms`;
  };
  const struck = ledger.entries.filter((entry) => decidedAt(entry) > struckAt);
  return {
    unavailable: unavailable.map(describe),
    lost: sum(drifts.map((each) => Math.max(0, each))),
    recoveryMs: recoveredAt - healedAt,
    slowestOwnMs: slowest(struck.map((entry) => withoutWait(entry, machine))),
    unanswered: unanswered.length,
    overcharged: sum(drifts.map((each) => Math.max(0, -each))),
    breaches: [
      ...ledger.breaches({
        drift: (counter, window) => (window === drift.window ? drift.of(counter) : 0),
        unknown: unanswered.filter((entry) => decidedAt(entry) > drift.measuredAt),
      }),
      ...unexhausted.map((surface) => `the limit of ${surface} was not exhausted: too few requests`),
      ...ledger.entries
        .filter(({ status = 0, verdict }) => status < 400 && verdict === undefined)
        .map(({ status, time }) => `${time}: answered ${status} without a decision`),
      ...invalid503s,
      ...tally.failures,
    ],
    relapses: ours.filter((entry) => decidedAt(entry) > recoveredAt).map(describe),
  };
}

/**
 * Waits until the time for recovery is over and there was no 503 for CALM_MS, for 8 s at most. Before that a charge may
 * still lose its response, and would not be in the drift.
 */
async function calm(ledger: () => Ledger, healedAt: number): Promise<void> {
  await setTimeout(Math.max(0, healedAt + RECOVERY_MS - Date.now()));
  for (const deadline = healedAt + GIVE_UP_MS; Date.now() < deadline; await setTimeout(50)) {
    const late = ledger()
      .entries.filter(({ status }) => status === 503)
      .map(decidedAt)
      .filter((at) => at > healedAt);
    if (Date.now() - calmSince(healedAt, late) > CALM_MS) return;
  }
}

/** Returns the time of the last 503 before the first pause of CALM_MS. @param late times of the 503s after the fault. */
function calmSince(healedAt: number, late: readonly number[]): number {
  let last = healedAt;
  for (const at of late.toSorted((a, b) => a - b)) {
    if (at - last > CALM_MS) break;
    last = at;
  }
  return last;
}

/** Waits until the replicas have logged all answered requests of an account. */
export async function logged(service: Processes, accountId: string, answered: () => number): Promise<void> {
  const count = (): number => service.log.filter(({ account }) => account === accountId).length;
  while (count() < answered()) await service.logged(({ account }) => account === accountId);
}

/** Reads the usage of each key from Redis, and retries for up to 8 s. */
async function usagesOf(
  { operators }: Processes,
  { id, keys }: { id: string; keys: { id: string }[] },
): Promise<Map<string, Usage>> {
  const usages = new Map<string, Usage>();
  for (const { id: keyId } of keys) {
    for (const deadline = Date.now() + GIVE_UP_MS; !usages.has(keyId); await setTimeout(20)) {
      await operators.usage({ accountId: id, keyId }).then(
        (usage) => usages.set(keyId, usage),
        (error: unknown) => {
          if (Date.now() > deadline) throw error;
        },
      );
    }
  }
  return usages;
}

/** Returns the slowest 503, or the slowest refusal without a 503. Other responses also include the time of the work itself. */
function slowest(entries: readonly Entry[]): number {
  const [unavailable, refused] = [503, 429].map((status) =>
    entries.filter((entry) => entry.status === status).map(({ ms }) => ms),
  );
  return Math.max(0, ...(unavailable?.length ? unavailable : (refused ?? [])));
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
