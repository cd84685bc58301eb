import type { AccountStore } from "../accounts/store.ts";
import type { AuditTrail } from "../audit/trail.ts";
import { candidateNotFound } from "../candidates/erasure.ts";
import { hasOptedOut } from "../candidates/outreach.ts";
import type { CandidateReader } from "../candidates/reader.ts";
import { type CandidateRecord, TO_CANDIDATE } from "../candidates/record.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Try } from "./message-store.ts";
import type { PlanStore } from "./plan-store.ts";
import { planOf } from "./plan.ts";
import type { RulesReader } from "./rules.ts";
import type { ReminderStores } from "./stores.ts";

export interface AccountOutreachView {
  object: "account_outreach";
  account_id: string;
  /** When it was paused. Null if it is not paused. */
  paused_at: string | null;
}

/** The chase of a candidate, as operators see it. It contains no address and no name. */
export interface CandidateOutreachView {
  object: "candidate_outreach";
  candidate_id: string;
  account_id: string;
  next_at: string | null;
  reason: string | null;
  /** The next message to each recipient, and when it is due, quiet hours aside. */
  next: { to: string; at: string; documents: readonly string[]; repeats: string | null }[];
  recipients: { to: string; opted_out: boolean; bounced: boolean }[];
  /** What was given to the mail server, the oldest first. An attempt that was lost in a crash is not here. */
  history: Try[];
}

interface Dependencies {
  readonly candidates: Pick<CandidateReader, "get">;
  readonly plans: Pick<PlanStore, "accountOf">;
  readonly stores: Pick<ReminderStores, "accounts" | "messages">;
  readonly rules: Pick<RulesReader, "fresh">;
  readonly accounts: Pick<AccountStore, "get">;
  readonly audit: AuditTrail;
  readonly clock: Clock;
  /** Whether SMTP_URL is set. */
  readonly sendsMail: boolean;
}

/** What operators do with the chase. Every method may throw problems not_found and store_unavailable. */
export class ReminderControl {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Pauses the chase of an account. After this returns, only messages that are already being sent still go out. Idempotent. */
  pause(accountId: string): Promise<AccountOutreachView> {
    return this.#setPaused("outreach pause", accountId, timestamp(this.#dependencies.clock.now()));
  }

  /** Ends a pause. What became due meanwhile is due at once, and goes out at MAIL_PER_MINUTE. Idempotent. */
  resume(accountId: string): Promise<AccountOutreachView> {
    return this.#setPaused("outreach resume", accountId, null);
  }

  async #setPaused(action: string, accountId: string, pausedAt: string | null): Promise<AccountOutreachView> {
    const { audit, accounts, stores, clock } = this.#dependencies;
    await accounts.get(accountId);
    await audit.around({ action, accountId, subject: accountId }, () =>
      stores.accounts.pause(accountId, pausedAt, timestamp(clock.now())),
    );
    return { object: "account_outreach", account_id: accountId, paused_at: pausedAt };
  }

  /** Notes that the account's plans are to be made anew, because it was suspended or resumed. */
  async noteChange(accountId: string): Promise<void> {
    const { accounts, stores, clock } = this.#dependencies;
    await accounts.get(accountId);
    await stores.accounts.noteChange(accountId, timestamp(clock.now()));
  }

  /** Shows a candidate's plan and history, as they are now. */
  async show(candidateId: string): Promise<CandidateOutreachView> {
    const { candidates, plans, stores, rules, clock } = this.#dependencies;
    const accountId = await plans.accountOf(candidateId);
    if (accountId === undefined) throw candidateNotFound(candidateId);
    const [record, { rules: current }, history] = await Promise.all([
      candidates.get(accountId, candidateId),
      rules.fresh(accountId),
      stores.messages.of({ accountId, id: candidateId }),
    ]);
    const plan = planOf(record, this.#dependencies.sendsMail ? current : undefined, clock.now());
    return {
      object: "candidate_outreach",
      candidate_id: candidateId,
      account_id: accountId,
      next_at: plan.nextAt === Infinity ? null : timestamp(plan.nextAt),
      reason: plan.reason,
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
}

function recipientsOf({ email, references, outreach }: CandidateRecord): CandidateOutreachView["recipients"] {
  const isBounced = outreach.recipients.some(({ to, bounced }) => to === TO_CANDIDATE && bounced !== null);
  const all = [
    { to: TO_CANDIDATE, email, bounced: isBounced },
    ...references.map(({ id, email, state }) => ({ to: id, email, bounced: state === "bounced" })),
  ];
  return all.map(({ to, email: address, bounced }) => ({
    to,
    opted_out: address !== null && hasOptedOut(outreach.opted_out, address),
    bounced,
  }));
}
