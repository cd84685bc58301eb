import { hash } from "node:crypto";
import { BinaryResponse, type JsonResponse } from "../http/response.ts";
import type { Clock } from "../infra/clock.ts";
import { type IdPrefix, idsFrom, type NewId } from "../infra/ids.ts";
import { Problem, problem } from "../problems.ts";
import { type Outcome, pack, responseOrThrow, storedRefusal, unpack } from "./outcome.ts";
import type { IdempotencyRecord, IdempotencyStore } from "./store.ts";

/** Time a key is valid, in milliseconds. An older record is ignored even if it has not been removed yet. */
export const KEPT_MS = 24 * 60 * 60 * 1000;
/** Time an attempt that stops renewing its lease still blocks retries, in milliseconds. */
const LEASE_MS = 5_000;
const REUSED = "This Idempotency-Key was already used for a different request. Send a new key with a new request.";
const IN_FLIGHT =
  "The first request with this Idempotency-Key is still in progress. Send the request again in a second.";
/** Attempts to claim a key before giving up with idempotency_in_flight. */
const MAX_CLAIM_ATTEMPTS = 3;

export interface IdempotencyOptions {
  readonly store: IdempotencyStore;
  readonly clock: Clock;
  readonly random: (bytes: number) => Buffer;
  readonly leaseMs?: number;
}

export interface IdempotentRequest {
  readonly accountId: string;
  /** The candidate or webhook that the request is about. Undefined if it creates one: then the id that it will get. */
  readonly subject: string | undefined;
  /** Default: a candidate. */
  readonly creates?: IdPrefix | undefined;
  readonly key: string;
  /** Identifies the request: its method, path, query and body. */
  readonly fingerprint: string;
}

export type Idempotency = ReturnType<typeof idempotencyService>;

type Work = (newId: NewId) => Promise<JsonResponse | BinaryResponse>;

/**
 * Does work once per Idempotency-Key: claims the key, works, stores the outcome, responds. A refusal (4xx) frees the key.
 * All identifiers that the work creates are derived from the record of the key, so a retry after a crash finds what
 * exists. (src/docs/decisions/2026-11-28-a-response-is-stored-before-it-is-given.md)
 */
export function idempotencyService({ store, clock, random, leaseMs = LEASE_MS }: IdempotencyOptions) {
  /**
   * Runs the work and returns its response, or replays the stored one, with Idempotent-Replayed. Two round trips beside the work's own.
   * @throws problems idempotency_key_reused, idempotency_in_flight, store_unavailable; what the work throws.
   */
  async function once(request: IdempotentRequest, work: Work): Promise<JsonResponse> {
    const record = await claim(request);
    if (record.outcome !== null) return replay(record.outcome);
    const lease = (until: number) => store.lease(record, until).catch(() => undefined);
    const renewing = setInterval(() => void lease(clock.now() + leaseMs), leaseMs / 3);
    let isSettled = false;
    try {
      const outcome = await attempt(record, work);
      // An erasure of its candidate would not find it, so it is not kept. A retry does the work again.
      if ("answer" in outcome && (outcome.answer.subject ?? record.subject) !== record.subject)
        return responseOrThrow(outcome);
      isSettled = await settle(record, outcome);
      const earlier = isSettled ? null : ((await store.find(record.account, record._id))?.outcome ?? null);
      return earlier === null ? responseOrThrow(outcome) : await replay(earlier);
    } finally {
      clearInterval(renewing);
      if (!isSettled) await lease(0); // lets a retry start at once, with the same seed
    }
  }

  /**
   * Removes the stored responses about a subject, because they show what was deleted since. A retry does the work again:
   * it finds what exists, and its response shows what is there now.
   */
  const forget = (accountId: string, subject: string) => store.forgetOutcomes(accountId, subject);

  /** Replaces every stored response about the subject by this problem, which retries then get. */
  const end = async (accountId: string, subject: string, gone: Problem) =>
    store.replaceOutcomes(accountId, subject, await pack(storedRefusal(gone)));

  /** Returns the key's record: either one with an outcome, or one whose work this request now owns. */
  async function claim({ accountId, subject, creates = "cand", key, fingerprint }: IdempotentRequest) {
    const now = clock.now();
    const seed = random(16).toString("base64url");
    const fresh: IdempotencyRecord = {
      _id: `${accountId}.${hash("sha256", key, "base64url")}`,
      account: accountId,
      subject: subject ?? idsFrom(seed, now)(creates),
      fingerprint: hash("sha256", fingerprint, "base64url"),
      seed,
      owner: random(16).toString("base64url"),
      lease_until: now + leaseMs,
      created_at: now,
      state: "running",
      outcome: null,
    };
    for (let attempts = 1; attempts <= MAX_CLAIM_ATTEMPTS; attempts++) {
      if (await store.insert(fresh)) return fresh;
      const found = await store.find(accountId, fresh._id);
      if (found === null) continue; // it had expired and was removed just now, or a refusal has freed the key
      const next = successor(found, fresh);
      if (next === found || (await store.replace(found, next))) return next;
    }
    throw inFlight();
  }

  /**
   * Stores the outcome, or frees the key after a refusal. Returns false if another attempt has finished or taken over, or
   * if a deletion has discarded the outcome: the request must not create again what was deleted.
   */
  async function settle(record: IdempotencyRecord, outcome: Outcome): Promise<boolean> {
    const { forgotten } = record;
    if ("refusal" in outcome) return forgotten === undefined && store.remove(record);
    if (await store.finish(record, await pack(outcome))) return true;
    // If another attempt was refused and freed the key, bind it again, but without the outcome: an erasure in between
    // found no record, so it could not have removed the outcome.
    return store.insert({ ...record, lease_until: 0, forgotten: (forgotten ?? 0) + 1 });
  }

  return { once, forget, end };
}

/** Runs the work. A refusal (4xx) is an outcome. Any other error is thrown, because the work may have been done. */
async function attempt({ seed, created_at }: IdempotencyRecord, work: Work): Promise<Outcome> {
  try {
    const response = await work(idsFrom(seed, created_at));
    if (response instanceof BinaryResponse)
      throw new Error("A POST must respond with JSON: a stream cannot be stored for replays.");
    return { answer: response };
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return storedRefusal(error);
    throw error;
  }
}

async function replay(outcome: NonNullable<IdempotencyRecord["outcome"]>): Promise<JsonResponse> {
  return responseOrThrow(await unpack(outcome.value()), { "Idempotent-Replayed": "true" });
}

/** Returns the record that replaces `found` when its key is used again, or `found` itself if its work is done. */
function successor(found: IdempotencyRecord, fresh: IdempotencyRecord): IdempotencyRecord {
  const now = fresh.created_at;
  if (found.created_at <= now - KEPT_MS) return fresh;
  if (found.fingerprint !== fresh.fingerprint) throw problem("idempotency_key_reused", REUSED);
  if (found.outcome !== null) return found;
  const left = found.lease_until - now;
  // A later end than any lease has was set by a clock that was ahead.
  if (left > 0 && left <= 2 * (fresh.lease_until - now)) throw inFlight();
  return { ...found, owner: fresh.owner, lease_until: fresh.lease_until };
}

function inFlight(): Problem {
  return problem("idempotency_in_flight", IN_FLIGHT, { headers: { "Retry-After": "1" } });
}

/** The header as its draft defines it: a quoted string (RFC 8941, 3.3.3), for example `"8e03978e-40d5"`. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
/** The key without quotes, as most clients send it. */
const BARE = /^[\x21\x23-\x7e][\x20-\x7e]*$/;
const MAX_KEY_LENGTH = 255;

/** Parses an Idempotency-Key: 1 to 255 printable ASCII characters, in quotes or not. @throws problem malformed_request */
export function parseIdempotencyKey(field: string): string {
  const quoted = QUOTED.exec(field)?.[1];
  const key = quoted === undefined ? BARE.exec(field)?.[0] : quoted.replaceAll(/\\(.)/g, "$1");
  if (key !== undefined && key.length > 0 && key.length <= MAX_KEY_LENGTH) return key;
  const advice = `Send 1 to ${MAX_KEY_LENGTH} printable ASCII characters, bare or quoted.`;
  throw problem("malformed_request", `The Idempotency-Key is not valid. ${advice}`);
}
