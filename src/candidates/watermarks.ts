import { setTimeout as wait } from "node:timers/promises";
import type { FeedClock } from "./feed-clock.ts";
import type { OpenWrites } from "./open-writes.ts";
import type { Mark, WatermarkStore } from "./watermark-store.ts";

/** Longest wait, when the process stops, for writes whose outcome is not known, in milliseconds. */
export const SETTLE_WITHIN_MS = 5_000;
/** Pause between two rounds, in milliseconds. */
const ROUND_MS = 1_000;
/**
 * A process that has not renewed its mark for this many rounds is dead, and so is every write that it sent: no
 * connection delivers after two minutes, and the rounds take longer than that. Only rounds that the store has answered
 * count. While the store stands still, a write may wait in front of it for any time.
 */
const SILENT_ROUNDS = 140;
/** Failed rounds after which a warning is logged. */
const FAILURES_TO_REPORT = 10;

export interface WatermarksOptions {
  store: WatermarkStore;
  clock: Pick<FeedClock, "now" | "raise">;
  /** Names this process. Each start needs another name. */
  writer: string;
  openWrites: Pick<OpenWrites, "earliest" | "settled">;
  log: { warn(fields: object, message: string): void };
  /** Maximum clock skew of processes of an earlier version, in milliseconds. They do not know the high-water mark. */
  skewMs?: number;
  /** Pause between two rounds, in milliseconds. */
  roundMs?: number;
  silentRounds?: number;
}

interface Known {
  readonly mark: Mark;
  /** Rounds since the process last renewed its mark. */
  readonly silent: number;
}

/**
 * Tells how far the feed is complete, whatever happens to the processes that write to it.
 *
 * A write takes its place in the feed when it begins. If the store stalls, the write may land much later, at a place that
 * readers have passed. The process that sent it then writes the candidate again (see OpenWrites). But that process may
 * be dead by then. So each process makes its mark once a second: every change that it made before then is in the feed.
 * Readers go no further than the lowest mark. The mark of a dead process stays where it was until nothing that it sent
 * can still land.
 *
 * A process also records its clock as the high-water mark, before it tells readers how far the feed is complete. A process
 * that starts makes its own mark, and then moves its clock to the high-water mark. So it takes no place that a reader has
 * passed, even if every clock was set back in the meantime.
 */
export class Watermarks {
  readonly #options: Required<WatermarksOptions>;
  readonly #stopping = new AbortController();
  #known = new Map<string, Known>();
  #round = 0;
  #completeUntil = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(options: WatermarksOptions) {
    this.#options = { skewMs: 0, roundMs: ROUND_MS, silentRounds: SILENT_ROUNDS, ...options };
  }

  /**
   * Returns the time, in milliseconds since the epoch, before which no change can still appear in the feed. It lags the
   * clock by the clock skew and a second or two, and stands still while the store does not answer.
   */
  completeUntil(): number {
    return this.#completeUntil;
  }

  /** Makes the first mark, and starts the rounds. Call it before the first write. @throws problem store_unavailable */
  async start(): Promise<void> {
    await this.#runRound();
    this.#running = this.#runRounds(this.#stopping.signal);
  }

  /**
   * Waits until the outcome of every write is known, but not longer than this, in milliseconds. Then takes the mark back,
   * or leaves it for the readers if something is still open. Never fails.
   */
  async stop(withinMs: number): Promise<void> {
    const settled = await this.#options.openWrites.settled(withinMs);
    this.#stopping.abort();
    await this.#running;
    if (settled) await this.#options.store.remove({ _id: this.#options.writer }).catch(() => undefined);
  }

  async #runRounds(stopping: AbortSignal): Promise<void> {
    for (let failures = 0; await pause(this.#options.roundMs, stopping);) {
      try {
        await this.#runRound();
        failures = 0;
      } catch (error) {
        failures++;
        if (failures % FAILURES_TO_REPORT === 0)
          this.#options.log.warn(
            { err: error, failures },
            "the feed's cursors stand still: cannot write or read feed_marks",
          );
      }
    }
  }

  /**
   * Renews the mark of this process, then the high-water mark, and then reads the marks of the others. The order matters:
   * whoever starts after the reading finds this clock in the high-water mark. Three round trips.
   */
  async #runRound(): Promise<void> {
    const now = this.#options.clock.now();
    const complete_until = this.#options.openWrites.earliest(now);
    await this.#options.store.put({ _id: this.#options.writer, complete_until, round: ++this.#round });
    this.#options.clock.raise(await this.#options.store.raise(now));
    const marks = await this.#options.store.all();
    const silent = ({ _id, round }: Mark): number => {
      const before = this.#known.get(_id);
      return before?.mark.round === round ? before.silent + 1 : 0;
    };
    this.#known = new Map(marks.map((mark) => [mark._id, { mark, silent: silent(mark) }]));
    const known = [...this.#known.values()];
    const dead = known.filter((each) => each.silent >= this.#options.silentRounds).map(({ mark }) => mark);
    const live = marks.filter((mark) => !dead.includes(mark));
    // A process of an earlier version, whose clock is behind, may start after this round and take a place before `now`.
    this.#completeUntil = Math.min(now - this.#options.skewMs, ...live.map((mark) => mark.complete_until));
    await Promise.all(dead.map((mark) => this.#options.store.remove(mark)));
  }
}

/** Returns false if the rounds are to end. */
function pause(ms: number, stopping: AbortSignal): Promise<boolean> {
  return wait(ms, true, { signal: stopping, ref: false }).catch(() => false);
}
