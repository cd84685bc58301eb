import { LRUCache } from "lru-cache";
import type { RedisEpoch } from "../infra/redis-epoch.ts";
import type { ChargeRequest, Decision, Verdict } from "./decision.ts";

/** Maximum time that a refusal of an account is repeated, in milliseconds from the sending of its charge. */
export const ACCOUNT_REFUSAL_MS = 1_000;
/** Time that the issue of a grant waits, in milliseconds: longer, because timers may fire early, and clocks drift. */
export const ISSUE_WAIT_MS = ACCOUNT_REFUSAL_MS + 100;
/** The same for a refusal of a key, whose account other keys go on to charge. */
const KEY_REFUSAL_MS = 100;

const LIFE_MS: Partial<Record<Verdict, number>> = {
  account_exhausted: ACCOUNT_REFUSAL_MS,
  key_exhausted: KEY_REFUSAL_MS,
};

/** A refusal ends this long before its window, in milliseconds: one for the rounding of Redis's clock, one for drift. */
const MARGIN_MS = 2;

/** Refusals of one key on one surface within FLOOD_MS that are a flood. It lasts while each second has as many. */
const FLOOD_REFUSALS = 10;
const FLOOD_MS = 1_000;

/** Share of a refusal's time after which one request asks Redis again, while the others go on with the old refusal. */
const RENEWED_AFTER = 0.8;

/** Keys and surfaces to remember. An entry takes less than 1 kB. */
const MAX_ENTRIES = 10_000;

interface Dependencies {
  readonly connection: Pick<RedisEpoch, "changes">;
  /** A monotonic timer, in milliseconds from any start. */
  readonly timer?: { now(): number };
}

/** The last refusal of a key on a surface, and the number within a second. Times are the timer's. */
interface Refused {
  readonly decision: Decision;
  readonly receivedAt: number;
  /** From then on one request asks Redis again; Infinity once it does. */
  renewsAt: number;
  readonly endsAt: number;
  readonly isFlood: boolean;
  /** Refusals since the time below, repeated ones included. */
  refusals: number;
  readonly since: number;
}

/** The refusals that a replica repeats in a flood by itself: decisions/2026-11-25-a-flood-repeats-its-refusals.md. */
export function refusalCache({ connection, timer = performance }: Dependencies) {
  const refused = new LRUCache<string, Refused>({ max: MAX_ENTRIES });
  /** `connection.changes` when the refusals in `refused` were sent. */
  let knownChanges = 0;

  /** Returns Redis's refusal of this request, if it is known. */
  function find(request: ChargeRequest): Decision | undefined {
    if (!countsAsOne(request) || connection.changes !== knownChanges) return undefined;
    const known = refused.get(nameOf(request));
    if (known === undefined || !known.isFlood) return undefined;
    const now = timer.now();
    if (now >= known.endsAt) return undefined;
    if (now >= known.renewsAt) {
      known.renewsAt = Infinity;
      return undefined;
    }
    known.refusals++;
    // From the arrival of the reply on, not from its sending: a client that waits until the reset must not be too early.
    const resetMs = Math.ceil(known.decision.resetMs - (now - known.receivedAt));
    return { ...known.decision, resetMs };
  }

  /**
   * Call it right before a charge is sent to Redis. Returns what goes with its reply: the time, by the timer, and the number of
   * connections lost or made until then.
   */
  function sent() {
    return { sentAt: timer.now(), changes: connection.changes };
  }

  /** Call it with every reply of Redis, as soon as it arrives. Keeps it if it is a refusal that may be repeated. */
  function keep(request: ChargeRequest, decision: Decision, { sentAt, changes }: ReturnType<typeof sent>): void {
    const lifeMs = LIFE_MS[decision.verdict];
    // From now on another server may reply, or one that was emptied. Replies already under way are from the old one.
    if (lifeMs === undefined || changes !== connection.changes) return;
    // A dearer request may be refused where there is room for a cheaper one. An empty grant may be filled at any time.
    if (!countsAsOne(request) || decision.grantRemaining !== null) return;
    if (changes !== knownChanges) refused.clear();
    knownChanges = changes;
    const name = nameOf(request);
    const before = refused.get(name);
    const { refusals, since, wasFlood } = periodOf(before, sentAt);
    const remainsMs = Math.min(lifeMs, decision.resetMs - MARGIN_MS);
    refused.set(name, {
      decision,
      receivedAt: timer.now(),
      renewsAt: sentAt + RENEWED_AFTER * remainsMs,
      endsAt: sentAt + remainsMs,
      isFlood: wasFlood || refusals + 1 >= FLOOD_REFUSALS,
      refusals: refusals + 1,
      since,
    });
  }

  return { find, sent, keep };
}

/** Returns the second that a refusal belongs to: the one that is counted, or a new one. */
function periodOf(before: Refused | undefined, sentAt: number) {
  const { refusals, since, isFlood } = before ?? { refusals: 0, since: sentAt, isFlood: false };
  const ageMs = sentAt - since;
  if (ageMs < FLOOD_MS) return { refusals, since, wasFlood: isFlood };
  return { refusals: 0, since: sentAt, wasFlood: refusals >= FLOOD_REFUSALS && ageMs < 2 * FLOOD_MS };
}

function countsAsOne({ cost = 1 }: ChargeRequest): boolean {
  return cost === 1;
}

/** Ids contain no spaces. */
function nameOf({ accountId, keyId, surface }: ChargeRequest): string {
  return `${accountId} ${keyId} ${surface}`;
}
