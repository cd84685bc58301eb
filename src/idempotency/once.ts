import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { BinaryAnswer, type JsonAnswer } from "../http/answer.ts";
import type { Clock } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import { Problem, problem } from "../problems.ts";
import { idsFrom } from "./ids.ts";
import { Lease } from "./lease.ts";
import { answerOrThrow, type Outcome, pack, storedRefusal, unpack } from "./outcome.ts";
import type { IdempotencyRecord, IdempotencyStore } from "./store.ts";
import { type FailureLog, Unstored } from "./unstored.ts";

/** How long a key is valid, in milliseconds. An older record is ignored even if it has not been removed yet. */
export const KEPT_MS = 24 * 60 * 60 * 1000;
/** How long an attempt that stops renewing its lease still blocks retries, in milliseconds. */
const LEASE_MS = 5_000;
/** Attempts to claim a key before giving up with idempotency_in_flight. */
const MAX_CLAIM_ATTEMPTS = 3;
/**
 * Pauses between looks at a record that another process works on, in milliseconds. Its answer may be out already: then
 * the outcome is stored within milliseconds, and no event tells this process.
 */
const LOOK_PAUSES_MS = [10, 30, 60, 150];
/** How long a retry waits until an answer of this process is stored, in milliseconds. Then the retry reads the record. */
const STORED_WITHIN_MS = 250;

export interface IdempotentWorkOptions {
  store: IdempotencyStore;
  clock: Clock;
  random: (bytes: number) => Buffer;
  leaseMs?: number;
  log?: FailureLog;
}

export interface IdempotentRequest {
  readonly accountId: string;
  /** The candidate that the request is about. Undefined if it creates one: then the id that it will get. */
  readonly subject: string | undefined;
  /** As `parseIdempotencyKey` returns it. */
  readonly key: string;
  /** Identifies the request: its method, path, query and body. */
  readonly fingerprint: string;
}

type Work = (newId: NewId) => Promise<JsonAnswer | BinaryAnswer>;

interface Done {
  readonly answer: JsonAnswer;
  readonly replayed: boolean;
}

/**
 * Does work once per Idempotency-Key. Before the work, a record with a seed is written; all identifiers that the work
 * creates are derived from the seed. If an attempt dies at any moment, its retry repeats the work with the same
 * identifiers and finds what already exists. The lease only avoids parallel work: correctness does not depend on it.
 *
 * Success uses a key up: its answer is stored for replays. A refusal (4xx) leaves nothing behind, so the key is free
 * again, for the same request or for a corrected one. After a 5xx the work may have been done, so the key stays bound to
 * its request.
 *
 * An answer is given before it is stored. If the replica dies in the milliseconds between, a retry repeats the work as
 * after any other death: it creates nothing twice and undoes no later change, and answers with what is there by then.
 */
export class IdempotentWork {
  readonly #store: IdempotencyStore;
  readonly #clock: Clock;
  readonly #random: (bytes: number) => Buffer;
  readonly #leaseMs: number;
  readonly #unstored: Unstored;

  constructor({ store, clock, random, leaseMs = LEASE_MS, log }: IdempotentWorkOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#leaseMs = leaseMs;
    this.#unstored = new Unstored(log);
  }

  /**
   * Waits for one round trip in addition to the work's own, which claims the key. Another one stores the outcome after
   * this has returned. A refusal waits for both. So does an attempt that took over from another one; it also takes one
   * to read the key's record and one to claim it again. A replay takes two in total. While another process works on the
   * request, this reads the record five times in a quarter of a second.
   * @throws problems idempotency_key_reused, idempotency_in_flight, store_unavailable; what the work throws.
   */
  async once(request: IdempotentRequest, work: Work): Promise<Done> {
    const { record, isFirst } = await this.#claim(request);
    if (record.outcome !== undefined) return answerOrThrow(await unpack(record.outcome), true);
    const lease = new Lease(record, { store: this.#store, clock: this.#clock, leaseMs: this.#leaseMs });
    const outcome = await this.#work(record, lease, work);
    const refused = "refusal" in outcome;
    const ending = refused ? this.#free(record, lease) : this.#finish(record, outcome);
    const ended = ending.finally(() => lease.leave());
    // Else another attempt may have finished first, or may be about to. Its outcome is then the answer.
    const mayFollow = !refused && isFirst && lease.isSafe();
    if (mayFollow && this.#unstored.add(record.id, outcome.answer.body.length, ended)) {
      return answerOrThrow(outcome, false);
    }
    const earlier = await ended;
    return earlier === undefined ? answerOrThrow(outcome, false) : answerOrThrow(earlier, true);
  }

  /** Waits until the outcome of every answer is stored. Gives up after `withinMs` milliseconds. */
  async settled(withinMs: number): Promise<void> {
    await this.#unstored.allSettled(withinMs);
  }

  /**
   * Removes the stored answers about a subject, because they show what was deleted since. A retry does the work again:
   * it finds what exists, and answers with what is there now. One round trip.
   */
  async forget(accountId: string, subject: string): Promise<void> {
    await this.#store.forgetOutcomes(accountId, subject);
  }

  /** Replaces every stored answer about the subject by this problem, which retries then get. One round trip. */
  async end(accountId: string, subject: string, gone: Problem): Promise<void> {
    await this.#store.replaceOutcomes(accountId, subject, await pack(storedRefusal(gone)));
  }

  /**
   * Returns the key's record: either one with an outcome, or one whose work this request now owns.
   * `isFirst` is false if an earlier attempt has owned it.
   */
  async #claim({
    accountId,
    subject,
    key,
    fingerprint,
  }: IdempotentRequest): Promise<{ record: IdempotencyRecord; isFirst: boolean }> {
    const id = `${accountId}.${sha256(key)}`;
    await this.#unstored.settled(id, STORED_WITHIN_MS);
    const now = this.#clock.now();
    const seed = this.#token();
    const fresh: IdempotencyRecord = {
      id,
      accountId,
      subject: subject ?? idsFrom(seed, now)("cand"),
      fingerprint: sha256(fingerprint),
      seed,
      owner: this.#token(),
      leaseUntil: now + this.#leaseMs,
      createdAt: now,
      outcome: undefined,
    };
    for (let attempt = 1; attempt <= MAX_CLAIM_ATTEMPTS; attempt++) {
      if (await this.#store.insert(fresh)) return { record: fresh, isFirst: true };
      const found = await this.#find(fresh);
      if (found === undefined) continue; // it had expired and was removed just now, or a refusal has freed the key
      const next = successor(found, fresh);
      if (next === found || (await this.#store.swap(found, next))) return { record: next, isFirst: false };
    }
    throw inFlight();
  }

  /** Finds the record of a key that is in use. If another attempt has its lease, looks again for a moment. */
  async #find(fresh: IdempotencyRecord): Promise<IdempotencyRecord | undefined> {
    for (const pause of LOOK_PAUSES_MS) {
      const found = await this.#store.find(fresh.accountId, fresh.id);
      if (found === undefined || !isInFlight(found, fresh)) return found;
      await setTimeout(pause);
      await this.#unstored.settled(fresh.id, pause);
    }
    return this.#store.find(fresh.accountId, fresh.id);
  }

  /** Does the work. @throws what is no refusal: the work may have been done. */
  async #work(record: IdempotencyRecord, lease: Lease, work: Work): Promise<Outcome> {
    try {
      const answer = await work(idsFrom(record.seed, record.createdAt));
      if (answer instanceof BinaryAnswer)
        throw new Error("A POST must answer with JSON: a stream cannot be stored for replays.");
      return { answer };
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return storedRefusal(error);
      await lease.release(); // lets a retry start at once, with the same seed
      throw error;
    }
  }

  /**
   * Frees the key after a refusal. If another attempt finished first, returns the outcome that it stored. If the stored
   * answer was discarded by a deletion, the key stays bound to its request, which must not create again what was deleted.
   * @throws problem store_unavailable. The client then repeats the request, as after any 5xx.
   */
  async #free(record: IdempotencyRecord, lease: Lease): Promise<Outcome | undefined> {
    if (record.forgotten === undefined && (await this.#store.remove(record))) return undefined;
    await lease.release();
    const stored = (await this.#store.find(record.accountId, record.id))?.outcome;
    return stored === undefined ? undefined : unpack(stored);
  }

  /** Stores the answer. If another attempt finished first, returns the outcome that it stored. */
  async #finish(record: IdempotencyRecord, outcome: Outcome): Promise<Outcome | undefined> {
    try {
      const packed = await pack(outcome);
      if (await this.#store.finish(record, packed)) return undefined;
      const found = await this.#store.find(record.accountId, record.id);
      // Another attempt was refused and freed the key. Bind it again, but without the answer: an erasure in between
      // found no record, so it could not have removed the answer.
      if (found === undefined)
        await this.#store.insert({ ...record, leaseUntil: 0, forgotten: (record.forgotten ?? 0) + 1 });
      return found?.outcome === undefined ? undefined : await unpack(found.outcome);
    } catch (error) {
      // The work is done and its answer is correct. A retry repeats the work and finds what already exists.
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }

  #token(): string {
    return this.#random(16).toString("base64url");
  }
}

/** Returns the record that replaces `found` when its key is used again, or `found` itself if its work is done. */
function successor(found: IdempotencyRecord, fresh: IdempotencyRecord): IdempotencyRecord {
  const now = fresh.createdAt;
  if (found.createdAt <= now - KEPT_MS) return fresh;
  if (found.fingerprint !== fresh.fingerprint) {
    throw problem(
      "idempotency_key_reused",
      "This Idempotency-Key was already used for a different request. Send a new key with a new request.",
    );
  }
  if (found.outcome !== undefined) return found;
  if (isInFlight(found, fresh)) throw inFlight();
  return { ...found, owner: fresh.owner, leaseUntil: fresh.leaseUntil };
}

/** Returns whether another attempt at the same request has the lease. */
function isInFlight(found: IdempotencyRecord, { fingerprint, createdAt: now, leaseUntil }: IdempotencyRecord): boolean {
  const isSame = found.fingerprint === fingerprint && found.createdAt > now - KEPT_MS;
  const left = found.leaseUntil - now;
  const isHeld = left > 0 && left <= 2 * (leaseUntil - now); // a later end was set by a clock that was ahead
  return isSame && found.outcome === undefined && isHeld;
}

function inFlight(): Problem {
  return problem(
    "idempotency_in_flight",
    "The first request with this Idempotency-Key is still in progress. Send the request again in a second.",
    { headers: { "Retry-After": "1" } },
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
