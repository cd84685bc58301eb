import { createHash } from "node:crypto";
import { BinaryAnswer, type JsonAnswer } from "../http/answer.ts";
import type { Clock } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import { Problem, problem } from "../problems.ts";
import { idsFrom } from "./ids.ts";
import { type Outcome, pack, refusalOf, tell, unpack } from "./outcome.ts";
import type { IdempotencyRecord, IdempotencyStore } from "./store.ts";

/** How long a key is good for, in milliseconds; a record that is older counts as none, removed or not. */
export const KEPT_MS = 24 * 60 * 60 * 1000;
/** How long a try that fell silent keeps others off its key, in milliseconds. */
const LEASE_MS = 5_000;
/** Attempts to claim a key before giving up with idempotency_in_flight. */
const MAX_RACES = 3;

export interface IdempotentWorkOptions {
  store: IdempotencyStore;
  clock: Clock;
  random: (bytes: number) => Buffer;
  leaseMs?: number;
}

export interface IdempotentRequest {
  readonly accountId: string;
  /** As `parseIdempotencyKey` returns it. */
  readonly key: string;
  /** The same for the same request. */
  readonly fingerprint: string;
}

type Work = (newId: NewId) => Promise<JsonAnswer | BinaryAnswer>;

interface Done {
  readonly answer: JsonAnswer;
  readonly replayed: boolean;
}

/**
 * Work that is done once for its Idempotency-Key. A record is written before the work; identifiers that the work makes
 * follow from its seed. So a try that dies at any moment is done again by its retry with the same identifiers, and meets
 * what it had made already: the lease only saves doing work side by side, nothing depends on it.
 *
 * Kept for replays is the first answer, and the first refusal by the work (4xx: not_found, external_id_taken, …). Not kept
 * is what may be different at the next try: 5xx, store_unavailable among them.
 */
export class IdempotentWork {
  readonly #store: IdempotencyStore;
  readonly #clock: Clock;
  readonly #random: (bytes: number) => Buffer;
  readonly #leaseMs: number;

  constructor({ store, clock, random, leaseMs = LEASE_MS }: IdempotentWorkOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#leaseMs = leaseMs;
  }

  /**
   * Two round trips beside the work's own; two in all for a replay.
   * @throws problems idempotency_key_reused, idempotency_in_flight, store_unavailable; what the work throws.
   */
  async once(request: IdempotentRequest, work: Work): Promise<Done> {
    const record = await this.#claim(request);
    if (record.outcome !== undefined) return tell(await unpack(record.outcome), true);
    const renewing = setInterval(() => void this.#lease(record, this.#clock.now() + this.#leaseMs), this.#leaseMs / 3);
    try {
      return await this.#work(record, work);
    } finally {
      clearInterval(renewing);
    }
  }

  /** The key's record: one that is done, or one whose work is now ours. */
  async #claim({ accountId, key, fingerprint }: IdempotentRequest): Promise<IdempotencyRecord> {
    const now = this.#clock.now();
    const fresh: IdempotencyRecord = {
      id: `${accountId}.${sha256(key)}`,
      accountId,
      fingerprint: sha256(fingerprint),
      seed: this.#token(),
      owner: this.#token(),
      leaseUntil: now + this.#leaseMs,
      createdAt: now,
      outcome: undefined,
    };
    for (let race = 1; race <= MAX_RACES; race++) {
      if (await this.#store.insert(fresh)) return fresh;
      const found = await this.#store.find(accountId, fresh.id);
      if (found === undefined) continue; // old, and just removed
      const mine = successor(found, fresh);
      if (mine === found || (await this.#store.swap(found, mine))) return mine;
    }
    throw inFlight();
  }

  async #work(record: IdempotencyRecord, work: Work): Promise<Done> {
    let outcome: Outcome;
    try {
      const answer = await work(idsFrom(record.seed, record.createdAt));
      if (answer instanceof BinaryAnswer) throw new Error("A POST answers JSON: a stream cannot be kept for replays.");
      outcome = { answer };
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) {
        await this.#lease(record, 0); // given back at once, with its seed
        throw error;
      }
      outcome = refusalOf(error);
    }
    const earlier = await this.#keep(record, outcome);
    return earlier === undefined ? tell(outcome, false) : tell(earlier, true);
  }

  /** Keeps the outcome; where another try that had taken over was first, gives the one that it kept. */
  async #keep(record: IdempotencyRecord, outcome: Outcome): Promise<Outcome | undefined> {
    try {
      if (await this.#store.finish(record, await pack(outcome))) return undefined;
      const kept = (await this.#store.find(record.accountId, record.id))?.outcome;
      return kept === undefined ? undefined : await unpack(kept);
    } catch (error) {
      // The work is done, and its answer true. A retry will do it again, and meet what is there.
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }

  /** Gives the lease a new end. Where that fails the old one stands: at the worst a retry waits for it, or works side by side. */
  async #lease(record: IdempotencyRecord, until: number): Promise<void> {
    await this.#store.lease(record, until).catch(() => undefined);
  }

  #token(): string {
    return this.#random(16).toString("base64url");
  }
}

/** What takes the place of a key's record when the same key comes again: itself where its work is done. */
function successor(found: IdempotencyRecord, fresh: IdempotencyRecord): IdempotencyRecord {
  const now = fresh.createdAt;
  if (found.createdAt <= now - KEPT_MS) return fresh;
  if (found.fingerprint !== fresh.fingerprint) {
    throw problem(
      "idempotency_key_reused",
      "This Idempotency-Key came with another request before. A new request needs a new key.",
    );
  }
  if (found.outcome !== undefined) return found;
  if (found.leaseUntil > now) throw inFlight();
  return { ...found, owner: fresh.owner, leaseUntil: fresh.leaseUntil };
}

function inFlight(): Problem {
  return problem(
    "idempotency_in_flight",
    "The first request with this Idempotency-Key is still being worked on. Try again shortly.",
    {
      headers: { "Retry-After": "1" },
    },
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
