import { endpoint } from "../api/endpoint.ts";
import { RemindInput } from "../candidates/input-schema.ts";
import { Candidate, CandidatePath } from "../candidates/schema.ts";
import { UNTAGGED } from "../candidates/render.ts";
import type { RemindService } from "./remind.ts";

export function outreachEndpoints(remind: RemindService) {
  return {
    remind: endpoint({
      name: "remindCandidate",
      tag: "Outreach",
      summary: "Remind the candidate and its referees now",
      description:
        "Brings the next message to each person who is still to answer forward to now, or to the end of the quiet hours. It counts as an attempt. One request an hour for each candidate. **People are mailed within seconds.**",
      params: CandidatePath,
      body: RemindInput,
      bodyOptional: true,
      response: Candidate,
      untagged: UNTAGGED,
      problems: ["not_found", "version_mismatch", "nothing_to_send", "reminded_recently"],
      handle: ({ caller, params, precondition }) => remind(caller.accountId, params.id, precondition),
    }),
  };
}
