import type { AccountStore } from "../accounts/store.ts";
import { checkedApproval } from "../audit/approval.ts";
import type { AuditTrail } from "../audit/trail.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import { invalid, problem } from "../problems.ts";
import type { Counts } from "./mail-day-store.ts";
import type { OptOutView } from "./opt-out-store.ts";
import type { ReminderStores } from "./stores.ts";

const HOUR_MS = 3_600_000;
const MAX_PER_DAY = 1_000_000;
/** The counts of earlier hours are removed (sweeps/mail.ts). */
const MAX_TOP_HOURS = 30 * 24;

/** More messages for one account, as the operator typed it. */
export interface RaiseRequest {
  readonly perDay: number;
  readonly newPerDay: number;
  readonly expiresInHours: number;
  readonly approvedBy: string;
  readonly reason: string;
}

/** What one account sent in the last hours. */
export interface TopView extends Counts {
  readonly account_id: string;
  readonly name: string;
}

interface Dependencies {
  readonly stores: Pick<ReminderStores, "accounts" | "budget" | "optOuts">;
  readonly accounts: Pick<AccountStore, "get">;
  readonly audit: AuditTrail;
  readonly clock: Clock;
}

/** What operators do about misuse of mail. Every method may throw problem store_unavailable. */
export class MailControl {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Lists the opt-outs of an account, the oldest first. Without addresses: they are stored as hashes. @throws problem not_found */
  async optOuts(accountId: string): Promise<{ object: "list"; data: OptOutView[] }> {
    const { stores, accounts } = this.#dependencies;
    await accounts.get(accountId);
    return { object: "list", data: await stores.optOuts.list(accountId) };
  }

  /**
   * Lets an account write again to an address whose owner had opted out. The audit has no address.
   * @throws problem not_found, also if its owner has not opted out.
   */
  async allow(accountId: string, email: string): Promise<{ object: "opt_out"; account_id: string; lifted: true }> {
    const { stores, accounts, audit, clock } = this.#dependencies;
    await accounts.get(accountId);
    await audit.around({ action: "outreach allow", accountId, subject: accountId }, async () => {
      if (!(await stores.optOuts.lift(accountId, email, timestamp(clock.now()))))
        throw problem(
          "not_found",
          "The owner of this address has not opted out of the account's messages. (What was stopped under a version before 2026-11-27 cannot be lifted.)",
        );
    });
    return { object: "opt_out", account_id: accountId, lifted: true };
  }

  /**
   * Sets how many messages an account may send a day, until a time. A later raise replaces an earlier one.
   * @throws problems not_found, validation_failed.
   */
  async raise(accountId: string, request: RaiseRequest) {
    const { stores, accounts, audit, clock } = this.#dependencies;
    const { expires_in_hours, approved_by, reason } = checkedApproval(request);
    const [per_day, new_per_day] = [perDay("/per_day", request.perDay), perDay("/new_per_day", request.newPerDay)];
    await accounts.get(accountId);
    const now = clock.now();
    const expires_at = timestamp(now + Math.round(expires_in_hours * HOUR_MS));
    const raise = { per_day, new_per_day, expires_at, approved_by, reason };
    await audit.around({ action: "outreach raise", accountId, subject: accountId, details: raise }, () =>
      stores.accounts.raise(accountId, raise, timestamp(now)),
    );
    return { object: "mail_raise" as const, account_id: accountId, ...raise };
  }

  /** Lists what accounts sent in the last hours, the most first. @throws problem validation_failed */
  async top(hours: number): Promise<{ object: "list"; data: TopView[] }> {
    const { stores, accounts, clock } = this.#dependencies;
    if (!Number.isInteger(hours) || hours < 1 || hours > MAX_TOP_HOURS)
      throw invalid("/hours", `must be a whole number from 1 to ${MAX_TOP_HOURS}`);
    const data: TopView[] = [];
    for (const { accountId, ...counts } of await stores.budget.since(clock.now() - (hours - 1) * HOUR_MS))
      data.push({ account_id: accountId, name: (await accounts.get(accountId)).name, ...counts });
    return { object: "list", data };
  }
}

function perDay(pointer: string, count: number): number {
  if (Number.isInteger(count) && count >= 0 && count <= MAX_PER_DAY) return count;
  throw invalid(pointer, `must be a whole number from 0 to ${MAX_PER_DAY}`);
}
