import { setTimeout as wait } from "node:timers/promises";
import { BoundedCollection } from "./bounded-collection.ts";
import { type Clock, timestamp } from "./clock.ts";
import type { NewId } from "./ids.ts";
import type { Metrics } from "./metrics.ts";
import type { Mongo } from "./mongo.ts";
import type { RedisClient } from "./redis.ts";

/** What becomes of reminders that were due before the end of a restore: they wait, go out, or count as sent at that end. */
export type Overdue = "hold" | "send" | "skip";

/** Where the data stands between two restores (operating.md). Times are RFC 3339. */
export interface RestoreState {
  /** Names the data. Each end of a restore makes a new name. */
  readonly installation: string;
  /** Grows while the service runs. Redis remembers it, so that of a backup is lower than Redis's. */
  readonly mark: number;
  /** The begin of the restore that has not ended yet. Null if there is none. */
  readonly since: string | null;
  readonly ended_at: string | null;
  readonly overdue: Overdue;
}

/** The end of the last restore, in milliseconds since the epoch, if reminders that were due by then do not go out. */
export type Restored = Readonly<{ at: number; overdue: Exclude<Overdue, "send"> }>;

const ROUND_MS = 1_000;
/** The mark grows once in this many rounds. */
const ROUNDS_A_MARK = 5;
/** Maximum wait for Redis, in milliseconds. Then a round goes on without it. */
const REDIS_WITHIN_MS = 2_000;
/** A hash in Redis: the mark of each installation. Its name fits the documented ACL; no account has the id `acct_`. */
const KEY = "{acct_}marks";
const _id = "restore";

interface Watched {
  readonly redis: RedisClient;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly metrics: Pick<Metrics, "restoring">;
  /** Is told each time that a restore has begun or ended. */
  readonly tell: (isRestoring: boolean) => void;
}

/**
 * Keeps the state in MongoDB. `watch` tells this process whether MongoDB is being restored: because an operator has said so, or because
 * its mark is lower than the one that Redis remembers. Redis learns of a mark after a majority of MongoDB has it. So no outage, no
 * election and no loss of Redis's data looks like a restore. Every method may throw problem store_unavailable.
 */
export class Restore {
  readonly #meta: BoundedCollection<RestoreState & { _id: typeof _id }>;
  readonly #newId: NewId;
  readonly #stopping = new AbortController();
  #closed = new AbortController();
  /** What was read last. */
  #state: RestoreState | null = null;
  #rounds = 0;

  constructor(mongo: Mongo, newId: NewId) {
    this.#meta = new BoundedCollection(mongo, "meta");
    this.#newId = newId;
  }

  /** Aborted if MongoDB is being restored. After the end of a restore it is another signal. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** Returns undefined if every reminder that is due goes out. Call `read` or `watch` first. */
  restored(): Restored | undefined {
    const { ended_at = null, overdue = "send" } = this.#state ?? {};
    return ended_at === null || overdue === "send" ? undefined : { at: Date.parse(ended_at), overdue };
  }

  /** Returns the end of the last restore, in milliseconds since the epoch; 0 if there was none. Call `read` or `watch` first. */
  endedAt(): number {
    return Date.parse(this.#state?.ended_at ?? "") || 0;
  }

  /** Returns null if the database has no state. One round trip. */
  async read(): Promise<RestoreState | null> {
    const state = await this.#meta.findOne({ _id });
    this.#state = state ?? this.#state;
    return state;
  }

  /**
   * Returns the state, and creates it if the database has none. One round trip, or three if it creates the state.
   * @param since when the restore began, if the database has no state because it is being restored.
   */
  async open(since: string | null = null): Promise<RestoreState> {
    const state = await this.read();
    if (state !== null) return state;
    const first = { installation: this.#newId("inst"), mark: 1, since, ended_at: null, overdue: "send" } as const;
    await this.#meta.insertIfAbsent({ _id, ...first });
    return this.open(since);
  }

  /** Changes the state, and raises its mark by 1. Returns false if the installation is another one, or the mark is not in the range. */
  change(installation: string, set: Partial<RestoreState>, range: { $gte?: number; $lt?: number } = {}) {
    const current = { _id, installation, mark: { $gte: 0, ...range } } as const;
    return this.#meta.updateOne(current, { $set: set, $inc: { mark: 1 } });
  }

  /** Looks once, and from then on once a second: two round trips, and two more every five seconds. */
  async watch(watched: Watched): Promise<void> {
    await this.#look(watched);
    void this.#keepLooking(watched);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #keepLooking(watched: Watched): Promise<void> {
    const { signal } = this.#stopping;
    while (await wait(ROUND_MS, true, { signal, ref: false }).catch(() => false))
      await this.#look(watched).catch(() => undefined);
  }

  async #look(watched: Watched): Promise<void> {
    const { redis, clock, log, metrics, tell } = watched;
    const last = this.#state ?? (await this.open());
    const round = this.#rounds++;
    // Redis is asked first: a mark that it knows is in MongoDB, unless MongoDB was restored. If Redis has lost its data, it knows 0.
    const known = await inTime(redis.hget(KEY, last.installation).then(Number));
    if (known === undefined && round === 0)
      log.warn({}, `Redis does not let the service read ${KEY}: no restore of MongoDB is noticed until it does`);
    const now = timestamp(clock.now());
    // A database that has lost its state since it was looked at last is being restored.
    const state = await this.open(now);
    if (state.installation !== last.installation) return this.#look(watched);
    const { since, mark } = state;
    if (since === null && known !== undefined) {
      if (mark < known) {
        log.warn({ mark, known }, "MongoDB is older than Redis remembers it: it was restored");
        // A primary that was deposed may return an old state, but cannot change it.
        await this.change(state.installation, { since: now }, { $lt: known });
        return this.#look(watched);
      }
      if (round % ROUNDS_A_MARK === 0 && (await this.change(state.installation, {}, { $gte: known })))
        await inTime(tellMark(redis, { ...state, mark: mark + 1 }));
    }
    const isRestoring = since !== null;
    if (isRestoring === this.signal.aborted) return;
    if (isRestoring) this.#closed.abort();
    else this.#closed = new AbortController();
    metrics.restoring.set(Number(isRestoring));
    tell(isRestoring);
    log.warn({ since }, isRestoring ? "nobody is served until `admin restore end`" : "the service is open again");
  }
}

/** Has Redis remember a mark that MongoDB has. A slow process may put back a lower one. That is harmless: the next mark follows. */
export async function tellMark(redis: RedisClient, { installation, mark }: RestoreState): Promise<void> {
  await redis.hset(KEY, installation, mark);
}

/** Returns undefined if Redis does not reply in time, or with an error. Then nothing can be told, and nothing is wrong. */
function inTime<T>(reply: Promise<T>): Promise<T | undefined> {
  return Promise.race([reply, wait(REDIS_WITHIN_MS, undefined, { ref: false })]).catch(() => undefined);
}
