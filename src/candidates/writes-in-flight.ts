import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import { isDuplicateKey } from "../infra/mongo.ts";
import { Problem } from "../problems.ts";
import type { Reservation } from "./feed-clock.ts";
import type { CandidateKey } from "./record.ts";

/** Wait before the first look for a candidate, in milliseconds. It doubles each time the candidate is missing. */
const FIRST_WAIT_MS = 250;
/** Wait before the last look, in milliseconds. What is missing then was never sent: no connection is kept open that long. */
const MAX_WAIT_MS = 64_000;
/** Maximum pause after a failed look, in milliseconds. It doubles from FIRST_WAIT_MS. */
const MAX_PAUSE_MS = 5_000;
/** Concurrency of the looks. An outage may leave tens of thousands of writes. */
const CONCURRENCY = 8;
/** Pause between two checks of `settled`, in milliseconds. */
const POLL_MS = 20;

interface Unsettled extends CandidateKey {
  readonly position: Reservation;
  /** Wait before the next look, in milliseconds, and the end of that wait, by `performance.now()`. */
  wait: number;
  due: number;
}

/**
 * The writes that have reserved a feed position and may not be visible yet: those under way, and those whose outcome is
 * unknown. The callers of the latter got a 503, but a hung server or a slow network may still apply the write later, at a
 * position that readers have passed. Once the store answers again, the candidate is written again unchanged. That gives
 * it a new position. It also gives it a new version, so that a delayed replacement of the old version matches nothing. A
 * candidate that is missing may still be inserted, so it is looked for again for about two minutes.
 *
 * The list is in memory only. If the process dies, its checkpoint keeps readers from passing these positions.
 */
export class WritesInFlight {
  readonly #renew: (key: CandidateKey) => Promise<boolean>;
  readonly #underWay = new Set<Reservation>();
  /** Keys are candidate ids. */
  readonly #unsettled = new Map<string, Unsettled>();

  /** @param renew writes a candidate again unchanged. Returns false if it is missing, throws if the store is down. */
  constructor(renew: (key: CandidateKey) => Promise<boolean>) {
    this.#renew = renew;
  }

  /** Returns the age of the oldest of these writes in milliseconds, 0 if there is none, and the number of unsettled ones. */
  state(): { lagMs: number; unsettled: number } {
    const now = performance.now();
    const [oldest] = this.#unsettled.values(); // both are in the order in which they were added
    const [first] = this.#underWay;
    const reservedAt = Math.min(oldest?.position.reservedAt ?? now, first?.reservedAt ?? now);
    return { lagMs: now - reservedAt, unsettled: this.#unsettled.size };
  }

  /** Returns the earliest position of these writes, or `now` if that is earlier. In milliseconds since the epoch. */
  earliest(now: number): number {
    let earliest = now;
    for (const { at } of this.#underWay) earliest = Math.min(earliest, at);
    for (const { position } of this.#unsettled.values()) earliest = Math.min(earliest, position.at);
    return earliest;
  }

  /** Runs the write of candidates at this position. If its outcome is unknown, settles them later. */
  async during<T>(candidates: readonly CandidateKey[], position: Reservation, write: () => Promise<T>): Promise<T> {
    this.#underWay.add(position);
    try {
      return await write();
    } catch (error) {
      if (!isRefused(error)) for (const candidate of candidates) this.settleLater(candidate, position);
      throw error;
    } finally {
      this.#underWay.delete(position);
    }
  }

  settleLater({ accountId, id }: CandidateKey, position: Reservation): void {
    const idle = this.#unsettled.size === 0;
    const earlier = this.#unsettled.get(id);
    // Writes of one candidate may fail in another order than they reserved their positions.
    const first = earlier !== undefined && earlier.position.at <= position.at ? earlier.position : position;
    const due = performance.now() + FIRST_WAIT_MS;
    this.#unsettled.set(id, { accountId, id, position: first, wait: FIRST_WAIT_MS, due });
    if (idle) void this.#settleAll();
  }

  /** Waits until no write is in flight, for up to `withinMs`. Returns false if one still is. Polls, because only a stop waits. */
  async settled(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    const isInFlight = () => this.#unsettled.size > 0 || this.#underWay.size > 0;
    while (isInFlight() && performance.now() < deadline) await setTimeout(POLL_MS, undefined, { ref: false });
    return !isInFlight();
  }

  async #settleAll(): Promise<void> {
    let pause = FIRST_WAIT_MS;
    while (this.#unsettled.size > 0) {
      await setTimeout(pause, undefined, { ref: false });
      pause = (await this.#settleDue()) ? FIRST_WAIT_MS : Math.min(pause * 2, MAX_PAUSE_MS);
    }
  }

  /** Looks for every candidate whose wait is over. Returns false as soon as one look failed: the store is down. */
  async #settleDue(): Promise<boolean> {
    const now = performance.now();
    const writes = [...this.#unsettled.values()].filter(({ due }) => due <= now);
    let isUp = true;
    await pLimit(CONCURRENCY).map(writes, async (write) => {
      if (isUp && !(await this.#look(write))) isUp = false;
    });
    return isUp;
  }

  /** Settles one write, or puts the next look off. Returns false if the look failed. */
  async #look(write: Unsettled): Promise<boolean> {
    const renewed = await this.#renew(write).catch(() => undefined);
    if (renewed === undefined) return false;
    if (this.#unsettled.get(write.id) !== write) return true; // another write of the same candidate has failed since
    write.wait *= 2;
    write.due = performance.now() + write.wait;
    if (renewed || write.wait > MAX_WAIT_MS) this.#unsettled.delete(write.id);
    return true;
  }
}

/** Returns true if the write was certainly not made. */
function isRefused(error: unknown): boolean {
  return isDuplicateKey(error) || (error instanceof Problem && error.code !== "store_unavailable");
}
