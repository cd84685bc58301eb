import { setTimeout } from "node:timers/promises";
import type { Usage } from "../../../src/limiter/usage.ts";
import { accountWithKeys, type Processes } from "../../support/processes.ts";
import type { Outcome } from "../report.ts";
import { Crowd, SURFACES } from "./crowd.ts";
import { startIdler } from "./idler.ts";
import { type Counter, counted, type Entry, Ledger } from "./ledger.ts";
import { beforeEdge, roomFor, windowOf } from "./windows.ts";

/** All must be well so long after the fault. */
export const RECOVERY_MS = 2_000;

const BEFORE_MS = 1_000;
/** Without a 503 for so long, the fault is over. */
const CALM_MS = 600;
const GIVE_UP_MS = 8_000;
/** ioredis, of a command while there is no connection. */
const NOT_SENT = /Stream isn't writeable|Connection is closed and/;
/** What a case needs after its fault: recovery and exhaustion. */
const AFTER_MS = 5_000;

export interface Fault {
  strike(accountId: string): unknown;
  /** Resolves when everything is as it was, and Redis takes commands. */
  heal(accountId: string): unknown;
  lastsMs?: number;
  /** Strikes between two requests: none then has run whose answer is lost. */
  quietly?: boolean;
  /** It may pass without a single 503. */
  painless?: boolean;
  /** The window ends while the fault lasts. */
  acrossAnEdge?: boolean;
  /** Resolves when nothing of the fault is on its way any more. */
  settled?(): Promise<void>;
  /** What `settled` may take, so that it lies within the fault's window. */
  settlesWithinMs?: number;
}

/** What the fault did to an account's requests, and whether its limits are still what they should be. */
export interface Aftermath {
  numbers: Pick<Outcome, "offered" | "admitted" | "refused" | "unavailable" | "failed" | "lost" | "slowestMs"> & {
    recoveryMs: number;
  };
  /** Charges without an admission. */
  overcharged: number;
  /** Requests that were answered 503 after their charge had been sent: it may have counted. */
  unanswered: number;
  /** What broke a promise, in words. */
  breaches: string[];
  /** Answers 503 after recovery, in words. */
  relapses: string[];
  /** The longest that the machine kept an idle process waiting meanwhile. */
  heldUpMs: number;
}

/** Brings a fault over a service under load by an account of its own, heals it, and goes on until the window is exhausted. */
export async function suffer(service: Processes, fault: Fault): Promise<Aftermath> {
  const { lastsMs = 2_000, settlesWithinMs = 0 } = fault;
  const account = await accountWithKeys(service, 3);
  await (fault.acrossAnEdge
    ? beforeEdge(BEFORE_MS + lastsMs / 2)
    : roomFor(BEFORE_MS + lastsMs + settlesWithinMs + AFTER_MS));
  const { body } = await account.keys[0]!.client.post("/candidates");
  const idler = startIdler();
  const crowd = new Crowd(
    service.url,
    account.keys.map(({ client }) => client.key),
    body.id,
  );
  const allLogged = (): Promise<void> =>
    logged(service, account.id, () => crowd.tally.offered - crowd.tally.failures.length + 1); // and the candidate's
  const ledger = (): Ledger => new Ledger(service.log, account, SURFACES);
  try {
    await setTimeout(BEFORE_MS);
    const struckAt = Date.now();
    await (fault.quietly ? crowd.hush(() => fault.strike(account.id)) : fault.strike(account.id));
    await setTimeout(lastsMs);
    await fault.heal(account.id);
    const healedAt = Date.now();
    await calm(ledger, healedAt);
    await fault.settled?.();
    const drift = await crowd.hush(async () => {
      await allLogged();
      return driftOf(ledger(), await usagesOf(service, account));
    });
    await crowd.exhaust();
    const heldUpMs = idler.heldUpMs(struckAt);
    await crowd.end();
    await allLogged();
    return { ...judge(ledger(), crowd, drift, { struckAt, healedAt }), heldUpMs };
  } finally {
    await crowd.end();
    await idler.stop();
  }
}

/** Admissions less charges of every counter, in the window that the fault ended in. */
interface Drift {
  window: number;
  of(counter: Counter): number;
}

function driftOf(ledger: Ledger, usages: ReadonlyMap<string, Usage>): Drift {
  const window = windowOf([...usages.values()].at(-1)?.surfaces[0]?.resetMs ?? 0);
  const name = ({ surface, keyId = "" }: Counter): string => `${surface} ${keyId}`;
  const drifts = new Map(
    ledger.counters.map((counter) => [
      name(counter),
      ledger.admitted(counter, window).length - counted(counter, usages),
    ]),
  );
  return { window, of: (counter) => drifts.get(name(counter)) ?? 0 };
}

function judge(
  ledger: Ledger,
  { tally, unsound }: Crowd,
  drift: Drift,
  { struckAt, healedAt }: { struckAt: number; healedAt: number },
): Omit<Aftermath, "heldUpMs"> {
  const unavailable = ledger.entries.filter(({ status }) => status === 503);
  const late = unavailable.map(decidedAt).filter((at) => at > healedAt);
  const recoveredAt = Math.max(calmSince(healedAt, late), ...late.filter((at) => at < healedAt + RECOVERY_MS));
  const drifts = SURFACES.map((surface) => drift.of({ surface }));
  const unexhausted = SURFACES.filter(
    (surface) => !ledger.windows().some((window) => window >= drift.window && ledger.exhausted(surface, window)),
  );
  const { offered, admitted, refused, unavailable: unavailables, failures } = tally;
  return {
    numbers: {
      offered,
      admitted,
      refused,
      unavailable: unavailables,
      failed: failures.length,
      lost: sum(drifts.map((each) => Math.max(0, each))),
      slowestMs: slowest(ledger.entries.filter((entry) => decidedAt(entry) > struckAt)),
      recoveryMs: recoveredAt - healedAt,
    },
    unanswered: unavailable.filter(({ error }) => !NOT_SENT.test(error?.message ?? "")).length,
    overcharged: sum(drifts.map((each) => Math.max(0, -each))),
    breaches: [
      ...ledger.breaches((counter, window) => (window === drift.window ? drift.of(counter) : 0)),
      ...unexhausted.map((surface) => `${surface} was not offered enough to be exhausted`),
      ...ledger.entries
        .filter(({ status = 0, verdict }) => status < 400 && verdict === undefined)
        .map(({ status, time }) => `${time}: answered ${status} without a decision`),
      ...unsound,
      ...failures,
    ],
    relapses: unavailable
      .filter((entry) => decidedAt(entry) > recoveredAt)
      .map(
        (entry) =>
          `${decidedAt(entry) - healedAt} ms after the fault: 503 in ${entry.ms} ms, ${entry.error?.message ?? ""}`,
      ),
  };
}

/** Waits until nothing has been answered 503 for a while. */
async function calm(ledger: () => Ledger, healedAt: number): Promise<void> {
  for (const deadline = healedAt + GIVE_UP_MS; Date.now() < deadline; await setTimeout(50)) {
    const late = ledger()
      .entries.filter(({ status }) => status === 503)
      .map(decidedAt)
      .filter((at) => at > healedAt);
    if (Date.now() - calmSince(healedAt, late) > CALM_MS) return;
  }
}

/** The last 503 before the first calm. @param late times of 503s, all after the fault. */
function calmSince(healedAt: number, late: readonly number[]): number {
  let last = healedAt;
  for (const at of late.toSorted((a, b) => a - b)) {
    if (at - last > CALM_MS) break;
    last = at;
  }
  return last;
}

/** Waits until the replicas' lines of all of an account's requests that were answered are here. */
export async function logged(service: Processes, accountId: string, answered: () => number): Promise<void> {
  const count = (): number => service.log.filter(({ account }) => account === accountId).length;
  while (count() < answered()) await service.logged(({ account }) => account === accountId);
}

/** What Redis has counted, asked until it says. */
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

/** Of the answers 503; where there is none, of the refusals: nothing else is answered as soon as it is decided. */
function slowest(entries: readonly Entry[]): number {
  const [unavailable, refused] = [503, 429].map((status) =>
    entries.filter((entry) => entry.status === status).map(({ ms }) => ms),
  );
  return Math.max(0, ...(unavailable?.length ? unavailable : (refused ?? [])));
}

function decidedAt({ time }: Entry): number {
  return Date.parse(time);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
