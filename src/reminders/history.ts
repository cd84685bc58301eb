import type { CandidateReader } from "../candidates/reader.ts";
import type { CandidateOutreach } from "./history-schema.ts";
import type { MessageStore } from "./message-store.ts";

/** Maximum number of messages that a history shows. */
const MAX_SHOWN = 200;

export type OutreachService = ReturnType<typeof outreachService>;

/** Reads the reminders of a candidate. @throws problems not_found, candidate_deleted */
export function outreachService(reader: Pick<CandidateReader, "get">, messages: Pick<MessageStore, "of">) {
  return async (accountId: string, id: string): Promise<CandidateOutreach> => {
    const { outreach } = await reader.get(accountId, id); // first: an erasure removes the record before the messages
    const tries = await messages.of({ accountId, id });
    return {
      object: "candidate_outreach",
      candidate_id: id,
      next_at: outreach.next_at,
      reason: outreach.reason,
      messages: tries.slice(-MAX_SHOWN).map(({ to, subject = null, at, kind, tries, documents }) => {
        return { to, subject, at, outcome: kind, tries, documents: [...documents] };
      }),
    };
  };
}
