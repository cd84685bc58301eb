import type { Author } from "../candidates/record.ts";
import { renderCandidate, taggedCandidate } from "../candidates/render.ts";
import type { Candidate } from "../candidates/schema.ts";
import { type Precondition, problem } from "../problems.ts";
import { reminded } from "./edits.ts";
import type { CandidateOutreach } from "./history-schema.ts";
import { type Plan, planOf } from "./plan.ts";
import type { WritingParts } from "./stores.ts";

/** Maximum number of messages that a history shows. */
const MAX_SHOWN = 200;
/** Minimum time between two requests to remind the people of one candidate now, in milliseconds. */
const REMIND_EVERY_MS = 3_600_000;

export type OutreachService = ReturnType<typeof outreachService>;

/** The operations on the reminders of a candidate. @param sendsMail false if the service has no mail server. */
export function outreachService({ candidates, rules, stores }: WritingParts, sendsMail: boolean) {
  return {
    /** Reads the reminders of a candidate. @throws problems not_found, candidate_deleted */
    async read(accountId: string, id: string): Promise<CandidateOutreach> {
      const { outreach } = await candidates.reader.get(accountId, id); // first: an erasure removes the record before the messages
      const tries = await stores.messages.of({ accountId, id });
      return {
        object: "candidate_outreach",
        candidate_id: id,
        next_at: outreach.next_at,
        reason: outreach.reason,
        messages: tries.slice(-MAX_SHOWN).map(({ to, subject = null, at, kind, tries, documents }) => {
          return { to, subject, at, outcome: kind, tries, documents: [...documents] };
        }),
      };
    },

    /**
     * Brings the next message to each person who is still to answer forward to now, or to the end of the quiet hours.
     * @throws problems not_found, version_mismatch, nothing_to_send, reminded_recently, store_unavailable.
     */
    async remind(author: Author, id: string, precondition: Precondition): Promise<Candidate> {
      const current = sendsMail ? (await rules.fresh(author.accountId)).rules : undefined;
      const record = await candidates.change(author, id, (before, now) => {
        precondition(() => [taggedCandidate(before)]);
        const time = Date.parse(now);
        const plan = planOf(before, current, time);
        checkSends(plan);
        const waitMs = Date.parse(before.outreach.reminded_at ?? "") + REMIND_EVERY_MS - time;
        if (waitMs > 0) throw remindedRecently(Math.ceil(waitMs / 1000));
        return reminded(before, plan, now);
      });
      return renderCandidate(record);
    },
  };
}

function checkSends({ messages, nextAt, reason: why }: Plan): void {
  if (nextAt < Infinity && messages.some(({ held }) => !held)) return;
  const reason = nextAt < Infinity ? "mail_limit" : why;
  const detail = `No reminder can go out. The reason is ${reason}: /docs#nothing_to_send says what to do.`;
  throw problem("nothing_to_send", detail, { members: { reason } });
}

function remindedRecently(seconds: number) {
  const detail = `A reminder was asked for less than an hour ago. Try again in ${seconds} seconds.`;
  const headers = { "Retry-After": String(seconds) };
  return problem("reminded_recently", detail, { members: { retry_after: seconds }, headers });
}
