import { type Clock, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import { Problem, problem } from "../problems.ts";
import type { AuditDetails, AuditOutcome, AuditStore } from "./store.ts";

/** A change to be recorded: its name as a command has it (`keys revoke`), whose it is, and what is changed, by id. */
export interface AuditedChange {
  readonly action: string;
  readonly account: string;
  readonly subject: string;
  readonly details?: AuditDetails;
}

/** A change as operators see it. `unknown`: it may have been made or not; its command was cut off, or is still at it. */
export interface AuditView {
  object: "audit_entry";
  id: string;
  at: string;
  actor: string;
  action: string;
  account_id: string;
  subject: string;
  details: AuditDetails;
  outcome: AuditOutcome["outcome"] | "unknown";
  reason: string | null;
  finished_at: string | null;
}

interface Dependencies {
  readonly store: AuditStore;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Who makes the changes. */
  readonly actor: string;
}

export const MAX_LISTED = 1000;

/** Who did what, and when. A record is written before the change and its outcome after, so no change is without a record. */
export class AuditTrail {
  readonly #store: AuditStore;
  readonly #clock: Clock;
  readonly #newId: NewId;
  readonly #actor: string;

  constructor({ store, clock, newId, actor }: Dependencies) {
    this.#store = store;
    this.#clock = clock;
    this.#newId = newId;
    this.#actor = actor;
  }

  /**
   * Makes a change that is on record. Two round trips beside its own.
   * @throws problem `store_unavailable` where it cannot be recorded: then it is not made; and what the change throws.
   */
  async around<T>({ details = {}, ...what }: AuditedChange, change: () => Promise<T>): Promise<T> {
    const id = this.#newId("audit");
    await this.#store.begin({ _id: id, at: this.#now(), actor: this.#actor, ...what, details });
    try {
      const result = await change();
      await this.#end(id, "done", null);
      return result;
    } catch (error) {
      await this.#end(id, "failed", error instanceof Problem ? error.message : "internal error");
      throw error;
    }
  }

  /**
   * The latest changes, newest first.
   * @param limit 1 to 1,000.
   * @throws problem `validation_failed` for a limit out of range, `store_unavailable`.
   */
  async list(limit: number, account?: string): Promise<{ object: "list"; data: AuditView[] }> {
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED) {
      const detail = `must be a whole number from 1 to ${MAX_LISTED}`;
      throw problem("validation_failed", `/limit ${detail}.`, { errors: [{ pointer: "/limit", detail }] });
    }
    const entries = await this.#store.newest(limit, account);
    const data = entries.map(({ record: { _id, account: account_id, ...record }, outcome }): AuditView => {
      const end = {
        outcome: outcome?.outcome ?? "unknown",
        reason: outcome?.reason ?? null,
        finished_at: outcome?.at ?? null,
      } as const;
      return { object: "audit_entry", id: _id, account_id, ...record, ...end };
    });
    return { object: "list", data };
  }

  /** The change is made, or was not, whether this can be written or not: without it the record says `unknown`. */
  async #end(id: string, outcome: AuditOutcome["outcome"], reason: string | null): Promise<void> {
    await this.#store.end({ _id: id, at: this.#now(), outcome, reason }).catch(() => undefined);
  }

  #now(): string {
    return timestamp(this.#clock.now());
  }
}
