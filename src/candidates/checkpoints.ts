import { setTimeout as wait } from "node:timers/promises";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { ChangedAccounts } from "./changed-accounts-store.ts";
import type { FeedClock } from "./feed-clock.ts";
import type { WritesInFlight } from "./writes-in-flight.ts";

/** Maximum wait, when the process stops, for writes whose outcome is not known, in milliseconds. */
export const SETTLE_WITHIN_MS = 5_000;
/** Pause between two rounds, in milliseconds. */
const ROUND_MS = 1_000;
/**
 * A process that has not renewed its checkpoint for this many rounds is dead, and so is every write that it sent: no
 * connection delivers after two minutes, and the rounds take longer than that. Only rounds that the store has answered
 * count. While the store stands still, a write may wait in front of it for any time.
 */
const SILENT_ROUNDS = 140;
/** Number of failed rounds after which a warning is logged. */
const FAILURES_TO_REPORT = 10;

/** How far the writes of one process are visible in the feed. */
export interface Checkpoint {
  /** Names the process. */
  readonly _id: string;
  /** Every change that this process made before then is in the feed. Milliseconds since the epoch. */
  readonly complete_until: number;
  /** Grows each time the process renews its checkpoint. */
  readonly round: number;
}

/** The checkpoints of all processes that write candidates. Every method takes one round trip, and may throw store_unavailable. */
export class CheckpointStore {
  readonly #checkpoints: BoundedCollection<Checkpoint>;
  readonly #meta: BoundedCollection<{ _id: "feed"; high_water: number }>;

  constructor(mongo: Mongo) {
    this.#checkpoints = new BoundedCollection(mongo, "feed_marks");
    this.#meta = new BoundedCollection(mongo, "meta");
  }

  async put({ _id, ...checkpoint }: Checkpoint): Promise<void> {
    await this.#checkpoints.updateOne({ _id }, { $set: checkpoint }, { upsert: true });
  }

  /** Raises the high-water mark to this time, and returns it, in milliseconds since the epoch. It never falls. */
  async raise(epochMs: number): Promise<number> {
    return (await this.#meta.upserted({ _id: "feed" }, { $max: { high_water: epochMs } })).high_water;
  }

  all(): Promise<Checkpoint[]> {
    return this.#checkpoints.find({});
  }

  /** Removes a checkpoint. @param round leaves the checkpoint of a process that has renewed it since. */
  async remove({ _id, round }: Pick<Checkpoint, "_id"> & Partial<Checkpoint>): Promise<void> {
    await this.#checkpoints.deleteOne(round === undefined ? { _id } : { _id, round });
  }
}

export interface CheckpointsOptions {
  store: CheckpointStore;
  clock: Pick<FeedClock, "now" | "raise">;
  /** Names this process. Each start needs another name. */
  writer: string;
  inFlight: Pick<WritesInFlight, "earliest" | "settled">;
  changed: Pick<ChangedAccounts, "write" | "noteDeath">;
  log: { warn(fields: object, message: string): void };
  /** Maximum clock skew of processes of an earlier version, in milliseconds. They do not know the high-water mark. */
  skewMs?: number;
  /** Pause between two rounds, in milliseconds. */
  roundMs?: number;
  silentRounds?: number;
}

interface Known extends Checkpoint {
  /** Number of rounds since the process last renewed its checkpoint. */
  readonly silent: number;
}

/**
 * Tells how far the feed is complete, whatever happens to the processes that write to it
 * (docs/decisions/2026-11-22-checkpoints-hold-the-cursor-back.md). Each process renews its checkpoint once a second. Readers
 * go no further than the lowest one. That of a dead process stays until nothing that it sent can still land.
 *
 * A process also records its clock as the high-water mark, before it tells readers how far the feed is complete. A process
 * that starts makes its own checkpoint, and then moves its clock to the high-water mark. So it reserves no position that a
 * reader has passed, even if every clock was set back in between.
 */
export class Checkpoints {
  readonly #options: Required<CheckpointsOptions>;
  readonly #stopping = new AbortController();
  #known = new Map<string, Known>();
  #round = 0;
  #completeUntil = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(options: CheckpointsOptions) {
    this.#options = { skewMs: 0, roundMs: ROUND_MS, silentRounds: SILENT_ROUNDS, ...options };
  }

  /**
   * Returns the time, in milliseconds since the epoch, before which no change can still appear in the feed. It lags the
   * clock by the clock skew and a second or two, and stands still while the store does not answer.
   */
  completeUntil(): number {
    return this.#completeUntil;
  }

  /** Returns the checkpoints that were not renewed in this many rounds. Their processes may have died. No round trip. */
  silentFor(rounds: number): Checkpoint[] {
    return [...this.#known.values()].filter(({ silent }) => silent >= rounds);
  }

  /** Makes the first checkpoint, and starts the rounds. Call it before the first write. */
  async start(): Promise<void> {
    await this.#runRound();
    this.#running = this.#runRounds(this.#stopping.signal);
  }

  /**
   * Waits until the outcome of every write is known, at most this many milliseconds. Then removes the checkpoint, or leaves it
   * for the readers if a write is still in flight. Never fails.
   */
  async stop(withinMs: number): Promise<void> {
    const settled = await this.#options.inFlight.settled(withinMs);
    this.#stopping.abort();
    await this.#running;
    const isTold = await this.#options.changed.write().then(
      () => true,
      () => false,
    );
    if (settled && isTold) await this.#options.store.remove({ _id: this.#options.writer }).catch(() => undefined);
  }

  async #runRounds(stopping: AbortSignal): Promise<void> {
    let failures = 0;
    while (await wait(this.#options.roundMs, true, { signal: stopping, ref: false }).catch(() => false)) {
      try {
        await this.#runRound();
        failures = 0;
      } catch (error) {
        const warning = "the feed's cursors stand still: cannot write or read feed_marks";
        if (++failures % FAILURES_TO_REPORT === 0) this.#options.log.warn({ err: error, failures }, warning);
      }
    }
  }

  /**
   * Renews the checkpoint of this process, then the high-water mark, and then reads the checkpoints of the others. The order
   * matters: a process that starts after the reading finds this clock in the high-water mark.
   */
  async #runRound(): Promise<void> {
    const now = this.#options.clock.now();
    const complete_until = this.#options.inFlight.earliest(now);
    await this.#options.changed.write();
    await this.#options.store.put({ _id: this.#options.writer, complete_until, round: ++this.#round });
    this.#options.clock.raise(await this.#options.store.raise(now));
    const known = (await this.#options.store.all()).map((checkpoint): Known => {
      const before = this.#known.get(checkpoint._id);
      return { ...checkpoint, silent: before?.round === checkpoint.round ? before.silent + 1 : 0 };
    });
    this.#known = new Map(known.map((each) => [each._id, each]));
    const isDead = ({ silent }: Known) => silent >= this.#options.silentRounds;
    const live = known.filter((each) => !isDead(each));
    // A process of an earlier version, whose clock is behind, may start after this round and reserve a position before `now`.
    this.#completeUntil = Math.min(now - this.#options.skewMs, ...live.map((each) => each.complete_until));
    await Promise.all(known.filter(isDead).map((each) => this.#remove(each)));
  }

  /** Removes a dead process's checkpoint. Nothing that it sent can still land: whoever sends nudges looks for it once more. */
  async #remove(dead: Checkpoint): Promise<void> {
    await this.#options.changed.noteDeath(dead._id, dead.complete_until);
    await this.#options.store.remove(dead);
  }
}
