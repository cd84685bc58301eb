import type { AccountStore } from "../accounts/store.ts";
import type { AuditTrail } from "../audit/trail.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import type { RedisClient } from "../infra/redis.ts";
import { type Overdue, type RestoreState, type RestoreStore, tellMark } from "../infra/restore.ts";
import type { ReminderAccountStore } from "./account-store.ts";
import type { PlanStore } from "./plan-store.ts";

interface Dependencies {
  readonly store: RestoreStore;
  readonly accounts: AccountStore;
  readonly reminders: { readonly accounts: ReminderAccountStore; readonly plans: PlanStore };
  readonly audit: AuditTrail;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Connects. */
  readonly redis: () => Promise<RedisClient>;
}

/** What operators say about a restore. Each method can be repeated, and may throw problem store_unavailable. */
export class RestoreControl {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  async show() {
    const { store, newId, reminders } = this.#dependencies;
    const { since, ended_at, overdue } = await store.open(newId);
    const waiting_candidates = await reminders.plans.waiting();
    return { object: "restore" as const, restoring: since !== null, since, ended_at, overdue, waiting_candidates };
  }

  /** Closes the service. Every replica follows within two seconds. Redis learns of it, if it can be reached. */
  async begin() {
    const { store, redis } = this.#dependencies;
    const isKnown = await this.#audited("begin", async (state) => {
      const isBegun = state.since === null && (await store.change(state, { since: this.#now() }));
      const told = async () => tellMark(await redis(), { ...state, mark: state.mark + Number(isBegun) });
      return told().then(
        () => true,
        () => false,
      );
    });
    return { ...(await this.show()), known_to_redis: isKnown };
  }

  /** Opens the service. Until it is open, `overdue` has no effect; once it is, only `decide` changes it. */
  async end(overdue: Overdue) {
    const { store, newId } = this.#dependencies;
    await this.#audited(
      "end",
      async (state) => {
        const ended = { installation: newId("inst"), since: null, ended_at: this.#now(), overdue };
        if (state.since !== null) await store.change(state, ended);
        await this.#replan();
      },
      overdue,
    );
    return this.show();
  }

  /** Says what becomes of the reminders that were held at the end. */
  async decide(command: "release" | "drop", overdue: Overdue) {
    await this.#audited(command, async (state) => {
      await this.#dependencies.store.change(state, { overdue });
      await this.#replan();
    });
    return this.show();
  }

  /** Notes that the reminders of every account are to be replanned. */
  async #replan(): Promise<void> {
    const { accounts, reminders } = this.#dependencies;
    for await (const { _id } of accounts.list()) await reminders.accounts.noteChange(_id, this.#now());
  }

  async #audited<T>(command: string, change: (state: RestoreState) => Promise<T>, overdue?: Overdue): Promise<T> {
    const { store, newId, audit } = this.#dependencies;
    const state = await store.open(newId);
    const details = overdue === undefined ? {} : { overdue };
    const audited = { action: `restore ${command}`, accountId: "all", subject: state.installation, details };
    return audit.around(audited, () => change(state));
  }

  #now(): string {
    return timestamp(this.#dependencies.clock.now());
  }
}
