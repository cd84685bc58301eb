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
export interface Restored {
  readonly at: number;
  readonly overdue: Exclude<Overdue, "send">;
}

const ROUND_MS = 1_000;
/** The mark grows once in this many rounds. */
const ROUNDS_A_MARK = 5;
/** Maximum wait for Redis, in milliseconds. Then a round goes on without it. */
const REDIS_WITHIN_MS = 2_000;
/** A hash in Redis: the mark of each installation. Its name fits the documented ACL; no account has the id `acct_`. */
const KEY = "{acct_}marks";
const _id = "restore";

/** The state, in MongoDB. Every method is one round trip, and may throw problem store_unavailable. */
export class RestoreStore {
  readonly #meta: BoundedCollection<RestoreState & { _id: typeof _id }>;

  constructor(mongo: Mongo) {
    this.#meta = new BoundedCollection(mongo, "meta");
  }

  /** Returns null if the database has none. */
  read(): Promise<RestoreState | null> {
    return this.#meta.findOne({ _id });
  }

  /**
   * Returns the state. Makes it first if the database has none. Two more round trips then.
   * @param since the begin of a restore, if a database without a state is being restored.
   */
  async open(newId: NewId, since: string | null = null): Promise<RestoreState> {
    const first = { installation: newId("inst"), mark: 1, since, ended_at: null, overdue: "send" } as const;
    return (await this.read()) ?? ((await this.#meta.insertIfAbsent({ _id, ...first })) ? first : this.open(newId));
  }

  /** Changes the state, and raises its mark by 1. Returns false if the installation is another one, or the mark is not in the range. */
  change(
    { installation }: Pick<RestoreState, "installation">,
    set: Partial<RestoreState>,
    range: { $gte?: number; $lt?: number } = {},
  ): Promise<boolean> {
    const current = { _id, installation, mark: { $gte: 0, ...range } } as const;
    return this.#meta.updateOne(current, { $set: set, $inc: { mark: 1 } });
  }
}

/** Returns the mark that Redis remembers. 0 if it remembers none, as after a loss of its data. */
async function knownMark(redis: RedisClient, { installation }: RestoreState): Promise<number> {
  return Number((await redis.hget(KEY, installation)) ?? 0);
}

/** Tells Redis a mark that the store has. A process that is late lowers it, until the next one is told: harmless. */
export async function tellMark(redis: RedisClient, { installation, mark }: RestoreState): Promise<void> {
  await redis.hset(KEY, installation, mark);
}

interface Dependencies {
  readonly store: RestoreStore;
  readonly redis: RedisClient;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly metrics: Pick<Metrics, "restoring">;
}

/**
 * Tells this process whether MongoDB is being restored: because an operator has said so, or because its mark is lower than the
 * one that Redis remembers. Redis learns of a mark after a majority of MongoDB has it. So no outage, no election and no loss of
 * Redis's data looks like a restore. Two round trips a second, and two more every five.
 */
export class RestoreWatch {
  readonly #dependencies: Dependencies;
  readonly #stopping = new AbortController();
  #state: RestoreState | undefined;
  #closed = new AbortController();
  #rounds = 0;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Aborted if MongoDB is being restored. After the end of a restore it is another signal. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** Returns undefined if every reminder that is due goes out. */
  restored(): Restored | undefined {
    return restoredOf(this.#state);
  }

  /** Looks once, and from then on once a second. @throws problem store_unavailable */
  async start(): Promise<void> {
    const { store, newId } = this.#dependencies;
    const state = await this.#look(await store.open(newId));
    void this.#run(state, this.#stopping.signal);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #run(state: RestoreState, stopping: AbortSignal): Promise<void> {
    let last = state;
    while (await wait(ROUND_MS, true, { signal: stopping, ref: false }).catch(() => false))
      last = await this.#look(last).catch(() => last);
  }

  /** @param last the state that was read last. */
  async #look(last: RestoreState): Promise<RestoreState> {
    const { store, redis, newId, clock, log } = this.#dependencies;
    const round = this.#rounds++;
    // Before the store is read: what Redis knows by then is in the store, unless it was restored.
    const known = await inTime(knownMark(redis, last));
    if (known === undefined && round === 0)
      log.warn({}, `Redis does not let the service read ${KEY}: no restore of MongoDB is noticed until it does`);
    const since = timestamp(clock.now());
    // A database that has lost its state since it was looked at last is being restored.
    const state = await store.open(newId, since);
    if (state.installation !== last.installation) return this.#look(state);
    if (state.since === null && known !== undefined) {
      if (state.mark < known) {
        log.warn({ mark: state.mark, known }, "MongoDB is older than Redis remembers it: it was restored");
        // A primary that was deposed may return an old state, but cannot change it.
        await store.change(state, { since }, { $lt: known });
        return this.#look(state);
      }
      if (round % ROUNDS_A_MARK === 0 && (await store.change(state, {}, { $gte: known })))
        await inTime(tellMark(redis, { ...state, mark: state.mark + 1 }));
    }
    this.#follow(state);
    return state;
  }

  #follow(state: RestoreState): void {
    this.#state = state;
    const { since } = state;
    const isRestoring = since !== null;
    if (isRestoring === this.signal.aborted) return;
    if (isRestoring) this.#closed.abort();
    else this.#closed = new AbortController();
    const { log, metrics } = this.#dependencies;
    metrics.restoring.set(Number(isRestoring));
    log.warn({ since }, isRestoring ? "nobody is served until `admin restore end`" : "the service is open again");
  }
}

/** Returns undefined if Redis does not reply in time, or with an error. Then nothing can be told, and nothing is wrong. */
function inTime<T>(reply: Promise<T>): Promise<T | undefined> {
  return Promise.race([reply, wait(REDIS_WITHIN_MS, undefined, { ref: false })]).catch(() => undefined);
}

/** Returns undefined if every reminder that is due goes out. @param state null or undefined if there is none. */
export function restoredOf(state: RestoreState | null | undefined): Restored | undefined {
  const { ended_at = null, overdue = "send" } = state ?? {};
  return ended_at === null || overdue === "send" ? undefined : { at: Date.parse(ended_at), overdue };
}
