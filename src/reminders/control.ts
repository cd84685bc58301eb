import { type ApprovalRequest, checkedApproval } from "../audit/approval.ts";
import type { AuditTrail } from "../audit/trail.ts";
import { candidateNotFound } from "../candidates/erasure.ts";
import { hasOptedOut } from "../candidates/outreach.ts";
import { CandidateReader } from "../candidates/reader.ts";
import { type CandidateRecord, TO_CANDIDATE } from "../candidates/record.ts";
import { HOUR_MS, timestamp } from "../infra/clock.ts";
import { problem, wholeNumber } from "../problems.ts";
import { planOf } from "./plan.ts";
import type { OpenReminders } from "./wire.ts";

const MAX_PER_DAY = 1_000_000;
/** The counts of earlier hours are removed (sweeps/mail.ts). */
const MAX_TOP_HOURS = 30 * 24;

export type ReminderControl = ReturnType<typeof reminderControl>;

/** What operators do with reminders. Every method may throw problems not_found and store_unavailable. */
export function reminderControl(parts: OpenReminders, audit: AuditTrail) {
  const { stores, rules, accounts, clock, mongo, config } = parts;
  const now = () => timestamp(clock.now());

  async function audited(action: string, accountId: string, change: () => Promise<void>, details = {}) {
    await accounts.get(accountId);
    await audit.around({ action, accountId, subject: accountId, details }, change);
  }

  async function setPaused(action: string, accountId: string, paused_at: string | null) {
    await audited(action, accountId, () => stores.accounts.noteChange(accountId, now(), { paused_at }));
    return { object: "account_outreach" as const, account_id: accountId, paused_at };
  }

  return {
    /** After this returns, only messages that are already being sent still go out. Idempotent. */
    pause: (accountId: string) => setPaused("outreach pause", accountId, now()),

    /** Ends a pause. What became due during it is due at once, and goes out at MAIL_PER_MINUTE. Idempotent. */
    resume: (accountId: string) => setPaused("outreach resume", accountId, null),

    /** Notes that the account's reminders are to be replanned, because it was suspended or resumed. */
    async noteChange(accountId: string): Promise<void> {
      await accounts.get(accountId);
      await stores.accounts.noteChange(accountId, now());
    },

    /**
     * Shows a candidate's plan and history, as they are now, without addresses and names. The history is what was given to the
     * mail server, the oldest first: an attempt that was lost in a crash is not in it.
     */
    async show(candidateId: string) {
      const accountId = await stores.plans.accountOf(candidateId);
      if (accountId === undefined) throw candidateNotFound(candidateId);
      const [record, { rules: current }, history] = await Promise.all([
        new CandidateReader(mongo).get(accountId, candidateId),
        rules.fresh(accountId),
        stores.messages.of({ accountId, id: candidateId }),
      ]);
      // The command line may have no SMTP_URL where the server has one.
      const sendsMail = config.SMTP_URL !== null || record.outreach.rules !== null;
      const plan = planOf(record, sendsMail ? current : undefined, clock.now());
      return {
        object: "candidate_outreach" as const,
        candidate_id: candidateId,
        account_id: accountId,
        next_at: plan.nextAt === Infinity ? null : timestamp(plan.nextAt),
        reason: plan.reason,
        // quiet hours aside
        next: plan.messages.map(({ to, at, documents, repeats }) => {
          return { to, at: timestamp(at), documents, repeats: repeats?.message_id ?? null };
        }),
        recipients: recipientsOf(record),
        history: history.map(({ subject: _subject, ...tried }) => tried),
      };
    },

    /** Lists the opt-outs of an account, oldest first. It has no addresses, because they are stored as hashes. */
    async optOuts(accountId: string) {
      await accounts.get(accountId);
      return { object: "list" as const, data: await stores.optOuts.list(accountId) };
    },

    /**
     * Lets an account write again to an address whose owner had opted out. The audit has no address.
     * @throws problem not_found, also if its owner has not opted out.
     */
    async allow(accountId: string, email: string) {
      await audited("outreach allow", accountId, async () => {
        if (!(await stores.optOuts.lift(accountId, email, now())))
          throw problem("not_found", "The owner of this address has not opted out of the account's messages.");
      });
      return { object: "opt_out" as const, account_id: accountId, lifted: true };
    },

    /**
     * Sets how many messages an account may send a day, until a time. A later raise replaces an earlier one.
     * @throws problem validation_failed
     */
    async raise(accountId: string, request: ApprovalRequest & Readonly<{ perDay: number; newPerDay: number }>) {
      const { expires_in_hours, approved_by, reason } = checkedApproval(request);
      const per_day = wholeNumber("/per_day", request.perDay, 0, MAX_PER_DAY);
      const new_per_day = wholeNumber("/new_per_day", request.newPerDay, 0, MAX_PER_DAY);
      const expires_at = timestamp(clock.now() + Math.round(expires_in_hours * HOUR_MS));
      const raise = { per_day, new_per_day, expires_at, approved_by, reason };
      const note = () => stores.accounts.noteChange(accountId, now(), { raise });
      await audited("outreach raise", accountId, note, raise);
      return { object: "mail_raise" as const, account_id: accountId, ...raise };
    },

    /** Lists what each account sent in the last hours. The one that sent most comes first. @throws problem validation_failed */
    async top(hours: number) {
      wholeNumber("/hours", hours, 1, MAX_TOP_HOURS);
      const data = [];
      for (const { accountId, ...counts } of await stores.budget.since(clock.now() - (hours - 1) * HOUR_MS)) {
        const { name } = await accounts.get(accountId, { evenErased: true });
        data.push({ account_id: accountId, name, ...counts });
      }
      return { object: "list" as const, data };
    },
  };
}

function recipientsOf({ email, references, outreach }: CandidateRecord) {
  const isBounced = outreach.recipients.some(({ to, bounced }) => to === TO_CANDIDATE && bounced !== null);
  const recipient = (to: string, address: string | null, bounced: boolean) => {
    return { to, opted_out: address !== null && hasOptedOut(outreach.opted_out, address), bounced };
  };
  const referees = references.map((each) => recipient(each.id, each.email, each.state === "bounced"));
  return [recipient(TO_CANDIDATE, email, isBounced), ...referees];
}
