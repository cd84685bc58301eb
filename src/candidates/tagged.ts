import type { CandidateRecord } from "./record.ts";
import { renderCandidate } from "./render.ts";
import type { Candidate, WaitingOn } from "./schema.ts";

/** What 0.1.0 says of a reference. */
const SAID: Partial<Record<string, string>> = {
  reference_requested: "has not answered",
  reference_declined: "has declined",
  reference_bounced: "could not be reached: the message bounced",
  reference_unresponsive: "does not respond",
  reference_without_email: "has no email address",
};

/**
 * Returns what the ETag of a candidate covers: what 0.1.0 shows of it, in its words. So replicas of both versions agree on ETags
 * while they run side by side. Whatever else the candidate shows changes `version`, or belongs to one response.
 */
export function taggedView({ outreach: _o, outreach_enabled: _e, warnings: _w, language: _l, ...shown }: Candidate) {
  const told = new Map(shown.waiting_on.map((wait) => [wait.message, toldBefore(wait)]));
  return {
    ...shown,
    state_reason: told.get(shown.state_reason ?? "") ?? shown.state_reason,
    waiting_on: shown.waiting_on.map((wait) => ({ ...wait, message: toldBefore(wait) })),
    documents: shown.documents.map((each) => ({ ...each, chase: sentOf(each) })),
    references: shown.references.map((each) => ({
      ...each,
      language: each.language ?? undefined,
      chase: sentOf(each),
    })),
  };
}

/** The view that If-Match compares. */
export function taggedCandidate(record: CandidateRecord): ReturnType<typeof taggedView> {
  return taggedView(renderCandidate(record));
}

function toldBefore({ code, subject, message }: WaitingOn): string {
  const said = SAID[code];
  if (said !== undefined) return `Reference ${subject} ${said}`;
  return code === "not_started" ? "The candidate has not been started" : message;
}

function sentOf({ chase: { attempts, last_at } }: Pick<Candidate["documents"][number], "chase">) {
  return { attempts, last_at };
}
