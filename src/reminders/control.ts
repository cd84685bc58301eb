import type { AccountStore } from "../accounts/store.ts";
import { type ApprovalRequest, checkedApproval } from "../audit/approval.ts";
import type { AuditTrail } from "../audit/trail.ts";
import { candidateNotFound } from "../candidates/erasure.ts";
import { hasOptedOut } from "../candidates/outreach.ts";
import type { CandidateReader } from "../candidates/reader.ts";
import { type CandidateRecord, TO_CANDIDATE } from "../candidates/record.ts";
import { timestamp } from "../infra/clock.ts";
import { problem, wholeNumber } from "../problems.ts";
import type { Counts } from "./mail-day-store.ts";
import { planOf } from "./plan.ts";
import type { ReminderParts } from "./stores.ts";

const HOUR_MS = 3_600_000;
const MAX_PER_DAY = 1_000_000;
/** The counts of earlier hours are removed (sweeps/mail.ts). */
const MAX_TOP_HOURS = 30 * 24;

/** More messages for one account, as the operator typed it. */
interface RaiseRequest extends ApprovalRequest {
  readonly perDay: number;
  readonly newPerDay: number;
}

interface Dependencies extends ReminderParts {
  readonly candidates: CandidateReader;
  readonly accounts: AccountStore;
  readonly audit: AuditTrail;
  /** True if SMTP_URL is set. */
  readonly sendsMail: boolean;
}

/** What operators do with reminders. Every method may throw problems not_found and store_unavailable. */
export class ReminderControl {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** After this returns, only messages that are already being sent still go out. Idempotent. */
  pause(accountId: string) {
    return this.#setPaused("outreach pause", accountId, this.#now());
  }

  /** Ends a pause. What became due during it is due at once, and goes out at MAIL_PER_MINUTE. Idempotent. */
  resume(accountId: string) {
    return this.#setPaused("outreach resume", accountId, null);
  }

  async #setPaused(action: string, accountId: string, pausedAt: string | null) {
    const { stores } = this.#dependencies;
    const note = () => stores.accounts.noteChange(accountId, this.#now(), { paused_at: pausedAt });
    await this.#audited(action, accountId, note);
    return { object: "account_outreach" as const, account_id: accountId, paused_at: pausedAt };
  }

  /** Notes that the account's reminders are to be replanned, because it was suspended or resumed. */
  async noteChange(accountId: string): Promise<void> {
    const { accounts, stores } = this.#dependencies;
    await accounts.get(accountId);
    await stores.accounts.noteChange(accountId, this.#now());
  }

  /**
   * Shows a candidate's plan and history, as they are now, without addresses and names. The history is what was given to the
   * mail server, the oldest first: an attempt that was lost in a crash is not in it.
   */
  async show(candidateId: string) {
    const { candidates, stores, rules, clock, sendsMail } = this.#dependencies;
    const accountId = await stores.plans.accountOf(candidateId);
    if (accountId === undefined) throw candidateNotFound(candidateId);
    const [record, { rules: current }, history] = await Promise.all([
      candidates.get(accountId, candidateId),
      rules.fresh(accountId),
      stores.messages.of({ accountId, id: candidateId }),
    ]);
    const plan = planOf(record, sendsMail ? current : undefined, clock.now());
    return {
      object: "candidate_outreach" as const,
      candidate_id: candidateId,
      account_id: accountId,
      next_at: plan.nextAt === Infinity ? null : timestamp(plan.nextAt),
      reason: plan.reason,
      // quiet hours aside
      next: plan.messages.map(({ to, at, documents, repeats }) => ({
        to,
        at: timestamp(at),
        documents,
        repeats: repeats?.message_id ?? null,
      })),
      recipients: recipientsOf(record),
      history,
    };
  }

  /** Lists the opt-outs of an account, the oldest first. Without addresses: they are stored as hashes. */
  async optOuts(accountId: string) {
    const { stores, accounts } = this.#dependencies;
    await accounts.get(accountId);
    return { object: "list" as const, data: await stores.optOuts.list(accountId) };
  }

  /**
   * Lets an account write again to an address whose owner had opted out. The audit has no address.
   * @throws problem not_found, also if its owner has not opted out.
   */
  async allow(accountId: string, email: string) {
    await this.#audited("outreach allow", accountId, async () => {
      if (!(await this.#dependencies.stores.optOuts.lift(accountId, email, this.#now())))
        throw problem("not_found", "The owner of this address has not opted out of the account's messages.");
    });
    return { object: "opt_out" as const, account_id: accountId, lifted: true };
  }

  /**
   * Sets how many messages an account may send a day, until a time. A later raise replaces an earlier one.
   * @throws problem validation_failed
   */
  async raise(accountId: string, request: RaiseRequest) {
    const { stores, clock } = this.#dependencies;
    const { expires_in_hours, approved_by, reason } = checkedApproval(request);
    const per_day = wholeNumber("/per_day", request.perDay, 0, MAX_PER_DAY);
    const new_per_day = wholeNumber("/new_per_day", request.newPerDay, 0, MAX_PER_DAY);
    const now = clock.now();
    const expires_at = timestamp(now + Math.round(expires_in_hours * HOUR_MS));
    const raise = { per_day, new_per_day, expires_at, approved_by, reason };
    const note = () => stores.accounts.noteChange(accountId, timestamp(now), { raise });
    await this.#audited("outreach raise", accountId, note, raise);
    return { object: "mail_raise" as const, account_id: accountId, ...raise };
  }

  /** Lists what accounts sent in the last hours, the most first. @throws problem validation_failed */
  async top(hours: number) {
    const { stores, accounts, clock } = this.#dependencies;
    wholeNumber("/hours", hours, 1, MAX_TOP_HOURS);
    const data: (Counts & { readonly account_id: string; readonly name: string })[] = [];
    for (const { accountId, ...counts } of await stores.budget.since(clock.now() - (hours - 1) * HOUR_MS))
      data.push({ account_id: accountId, name: (await accounts.get(accountId)).name, ...counts });
    return { object: "list" as const, data };
  }

  async #audited(action: string, accountId: string, change: () => Promise<void>, details = {}): Promise<void> {
    const { accounts, audit } = this.#dependencies;
    await accounts.get(accountId);
    await audit.around({ action, accountId, subject: accountId, details }, change);
  }

  #now(): string {
    return timestamp(this.#dependencies.clock.now());
  }
}

function recipientsOf({ email, references, outreach }: CandidateRecord) {
  const isBounced = outreach.recipients.some(({ to, bounced }) => to === TO_CANDIDATE && bounced !== null);
  const recipient = (to: string, address: string | null, bounced: boolean) => {
    return { to, opted_out: address !== null && hasOptedOut(outreach.opted_out, address), bounced };
  };
  const referees = references.map((each) => recipient(each.id, each.email, each.state === "bounced"));
  return [recipient(TO_CANDIDATE, email, isBounced), ...referees];
}
