import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import { isDuplicateKey } from "../infra/mongo.ts";

/** Wait before the first look for a candidate, in milliseconds. It doubles each time the candidate is missing. */
const FIRST_WAIT_MS = 250;
/**
 * Wait before the last look, in milliseconds. If the candidate is still missing then, the write was never sent: no
 * connection is kept open that long.
 */
const MAX_WAIT_MS = 64_000;
/** Longest pause after a look that the store did not answer, in milliseconds. It doubles from FIRST_WAIT_MS. */
const MAX_PAUSE_MS = 5_000;
/** Candidates that are looked for at once, and in one turn. An outage may leave tens of thousands. */
const WORKERS = 8;
const TURN = 100;

interface Candidate {
  readonly accountId: string;
  readonly id: string;
}

/** A place in the feed that a write has taken. */
export interface Place {
  /** The time that the place names, in milliseconds since the epoch. */
  readonly at: number;
  /** When it was taken, by `performance.now()`. */
  readonly takenAt: number;
}

/** Takes a place in the feed. Looks at the timer before the clock, so that a pause in between makes the place late. */
export function take(at: () => number): Place {
  const takenAt = performance.now();
  return { at: at(), takenAt };
}

interface Unsettled extends Candidate {
  readonly place: Place;
  /** Wait before the next look, in milliseconds, and when that wait ends, by `performance.now()`. */
  wait: number;
  due: number;
}

/**
 * Writes that have their place in the feed and may not be visible yet: those under way, and those whose outcome is
 * unknown. Callers of these got a 503, but a hung server or a slow network may still apply them later, at a place
 * in the feed that readers have already passed. Once the store answers again, the candidate is written again unchanged.
 * That gives it a place that no reader has passed. It also gives it a new version, so that a delayed replacement of the
 * old version matches nothing. A candidate that is missing may still be inserted, so it is looked for again for about
 * two minutes.
 *
 * The list is in memory only. If the process dies, its mark (see Watermarks) keeps readers from passing these places.
 */
export class OpenWrites {
  readonly #renew: (accountId: string, id: string) => Promise<boolean>;
  readonly #underWay = new Set<Place>();
  /** Keys are candidate ids. */
  readonly #unsettled = new Map<string, Unsettled>();
  /** Who waits for a write to end. */
  readonly #waiting: (() => void)[] = [];

  /** @param renew writes a candidate again unchanged. Returns false if it is missing, throws if the store is down. */
  constructor(renew: (accountId: string, id: string) => Promise<boolean>) {
    this.#renew = renew;
  }

  /** The age of the oldest of these writes in milliseconds, 0 if there is none; and how many are unsettled. */
  state(): { lagMs: number; unsettled: number } {
    const now = performance.now();
    const [oldest] = this.#unsettled.values(); // both are in the order in which they were added
    const [first] = this.#underWay;
    const takenAt = Math.min(oldest?.place.takenAt ?? now, first?.takenAt ?? now);
    return { lagMs: now - takenAt, unsettled: this.#unsettled.size };
  }

  /** Returns the earliest place of these writes, or `now` if that is earlier. In milliseconds since the epoch. */
  earliest(now: number): number {
    let earliest = now;
    for (const { at } of this.#underWay) earliest = Math.min(earliest, at);
    for (const { place } of this.#unsettled.values()) earliest = Math.min(earliest, place.at);
    return earliest;
  }

  /** Runs the write of candidates that took this place. If its outcome is unknown, settles it later. */
  async during<T>(candidates: readonly Candidate[], place: Place, write: () => Promise<T>): Promise<T> {
    this.#underWay.add(place);
    try {
      return await write();
    } catch (error) {
      if (!isDuplicateKey(error)) for (const candidate of candidates) this.settleLater(candidate, place);
      throw error;
    } finally {
      this.#underWay.delete(place);
      this.#announceChange();
    }
  }

  settleLater({ accountId, id }: Candidate, place: Place): void {
    const idle = this.#unsettled.size === 0;
    const earlier = this.#unsettled.get(id);
    // Keep the earlier place: writes of one candidate may fail in another order than they took their places.
    const first = earlier !== undefined && earlier.place.at <= place.at ? earlier.place : place;
    // Look for this write as long as for the first.
    const next = { wait: FIRST_WAIT_MS, due: performance.now() + FIRST_WAIT_MS };
    this.#unsettled.set(id, { accountId, id, place: first, ...next });
    if (idle) void this.#settleAll();
  }

  /** Waits until no write is under way or unsettled, but not longer than this, in milliseconds. Returns whether that is so. */
  async settled(withinMs: number): Promise<boolean> {
    const isOpen = () => this.#unsettled.size > 0 || this.#underWay.size > 0;
    const deadline = performance.now() + withinMs;
    while (isOpen() && performance.now() < deadline)
      await Promise.race([this.#changed(), setTimeout(deadline - performance.now(), undefined, { ref: false })]);
    return !isOpen();
  }

  /** Resolves when a write has ended or was settled. */
  #changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #announceChange(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Settles one turn of due writes after the other until there are none. Pauses while the store does not answer. */
  async #settleAll(): Promise<void> {
    let pause = FIRST_WAIT_MS;
    while (this.#unsettled.size > 0) {
      await setTimeout(pause, undefined, { ref: false });
      const answered = await this.#turn();
      pause = answered ? FIRST_WAIT_MS : Math.min(pause * 2, MAX_PAUSE_MS);
    }
  }

  /** Returns false as soon as the store has not answered one look. */
  async #turn(): Promise<boolean> {
    const limit = pLimit(WORKERS);
    let answered = true;
    const look = async (write: Unsettled): Promise<void> => {
      if (answered) answered = await this.#look(write);
    };
    for (;;) {
      const due = this.#due();
      await Promise.all(due.map((write) => limit(look, write)));
      if (!answered || due.length < TURN) return answered;
    }
  }

  #due(): Unsettled[] {
    const now = performance.now();
    const due: Unsettled[] = [];
    for (const write of this.#unsettled.values()) {
      if (write.due <= now) due.push(write);
      if (due.length === TURN) break;
    }
    return due;
  }

  /** Settles one write, or puts the next look off. Returns false if the store does not answer. */
  async #look(write: Unsettled): Promise<boolean> {
    const renewed = await this.#renew(write.accountId, write.id).catch(() => undefined);
    if (renewed === undefined) return false;
    if (this.#unsettled.get(write.id) !== write) return true; // another write of the same candidate has failed meanwhile
    write.wait *= 2;
    write.due = performance.now() + write.wait;
    if (renewed || write.wait > MAX_WAIT_MS) {
      this.#unsettled.delete(write.id);
      this.#announceChange();
    }
    return true;
  }
}
