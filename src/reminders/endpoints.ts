import { endpoint } from "../api/endpoint.ts";
import { CandidatePath } from "../candidates/schema.ts";
import type { HistoryService } from "./history.ts";
import { CandidateOutreach } from "./history-schema.ts";

export function outreachEndpoints(history: HistoryService) {
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
      handle: ({ caller, params }) => history.read(caller.accountId, params.id),
    }),
  };
}
