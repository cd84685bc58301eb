import { endpoint } from "../api/endpoint.ts";
import { RemindInput } from "../candidates/input-schema.ts";
import { Candidate, CandidatePath } from "../candidates/schema.ts";
import { taggedView } from "../candidates/render.ts";
import { CandidateOutreach } from "./history-schema.ts";
import type { OutreachService } from "./service.ts";

export function outreachEndpoints(outreach: OutreachService) {
  return {
    read: endpoint({
      name: "readOutreach",
      tag: "Outreach",
      summary: "Read a candidate's reminders: the next one, and the messages sent",
      description:
        "Reads when the next reminder goes out, or why none will, and what was given to the mail server, with subject and outcome. The history is erased with the candidate.",
      params: CandidatePath,
      response: CandidateOutreach,
      problems: ["not_found"],
      handle: ({ caller, params }) => outreach.read(caller.accountId, params.id),
    }),
    remind: endpoint({
      name: "remindCandidate",
      tag: "Outreach",
      summary: "Remind the candidate and its referees now",
      description:
        "Brings the next message to each person who is still to answer forward to now, or to the end of the quiet hours. Each message counts as an attempt. One request an hour for each candidate. **People are mailed within seconds.**",
      params: CandidatePath,
      body: RemindInput,
      bodyOptional: true,
      response: Candidate,
      tagged: taggedView,
      problems: ["not_found", "version_mismatch", "nothing_to_send", "reminded_recently"],
      handle: ({ caller, params, precondition }) => outreach.remind(caller, params.id, precondition),
    }),
  };
}
