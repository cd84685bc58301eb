import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import { newTypeId } from "../infra/ids.ts";
import type { Change } from "./batch-store.ts";
import { isTombstone } from "./erasure.ts";
import type { CandidateState } from "./schema.ts";

/** An account whose candidates changed. */
export interface ChangedAccount {
  readonly account: string;
  /** The feed position of the first of the changes, in milliseconds since the epoch. */
  readonly since: number;
  /** The states that candidates came into. */
  readonly states: readonly CandidateState[];
}

/** What is noted together. */
export interface ChangeNote {
  readonly _id: string;
  /** Null if a process died, so that any account may have changed since then. */
  readonly accounts: readonly ChangedAccount[] | null;
  readonly since: number;
}

/** Time for which changes are gathered before they are written, in milliseconds. */
const GATHER_MS = 250;
/** Number of notes that are read at once. */
const READ_AT_ONCE = 500;

/**
 * Tells which accounts have changed, to whoever sends nudges. A write only notes its account in memory. Each process writes its
 * notes a moment later, and before its checkpoint: so after the checkpoint of a dead process come the changes that it may not have noted.
 * Methods that return a promise take one round trip, and may throw store_unavailable.
 */
export class ChangedAccounts {
  readonly #notes: BoundedCollection<ChangeNote>;
  readonly #changed = new Map<string, { account: string; since: number; states: Set<CandidateState> }>();
  readonly #unwritten: ChangeNote[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(mongo: Mongo) {
    this.#notes = new BoundedCollection(mongo, "changed_accounts");
  }

  /** Notes changes that are visible in the feed. No round trip. @param at their feed position, in milliseconds since the epoch. */
  note(changes: readonly Change[], at: number): void {
    this.#timer ??= setTimeout(() => void this.write().catch(() => undefined), GATHER_MS).unref();
    for (const { before, after } of changes) {
      const { accountId: account } = after;
      const known = this.#changed.get(account) ?? { account, since: at, states: new Set() };
      known.since = Math.min(known.since, at);
      const from = before === undefined || isTombstone(before) ? undefined : before.state;
      if (!isTombstone(after) && after.state !== from) known.states.add(after.state);
      this.#changed.set(account, known);
    }
  }

  /** Writes what was noted. No round trip if that is nothing. What fails is written the next time. */
  write(): Promise<void> {
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const accounts = Array.from(this.#changed.values(), (each) => ({ ...each, states: [...each.states] }));
    const since = Math.min(...accounts.map((each) => each.since));
    if (accounts.length > 0) this.#unwritten.push({ _id: newTypeId("note"), accounts, since });
    this.#changed.clear();
    for (let note; (note = this.#unwritten[0]) !== undefined; this.#unwritten.shift())
      await this.#notes.insertIfAbsent(note);
  }

  /** Notes that any account may have changed since then. @param process names the process that died. */
  async noteDeath(process: string, since: number): Promise<void> {
    await this.#notes.insertIfAbsent({ _id: process, accounts: null, since });
  }

  read(): Promise<ChangeNote[]> {
    return this.#notes.find({}, { limit: READ_AT_ONCE });
  }

  async remove(notes: readonly ChangeNote[]): Promise<void> {
    if (notes.length > 0) await this.#notes.deleteMany({ _id: { $in: notes.map(({ _id }) => _id) } });
  }
}
