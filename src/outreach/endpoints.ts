import { Candidate, CandidatePath } from "../candidates/schema.ts";
import type { CandidateService } from "../candidates/service.ts";
import { type Endpoint, endpoint } from "../api/endpoint.ts";
import { OutreachPatch } from "../candidates/outreach-schema.ts";

/** How often a candidate's documents and references are chased. */
export function outreachEndpoints(candidates: CandidateService): Endpoint[] {
  return [
    endpoint({
      method: "PATCH",
      path: "/candidates/:id/outreach",
      surface: "writes",
      name: "setOutreach",
      summary: "Edit docs_chase_attempts and reference_chase_attempts",
      params: CandidatePath,
      body: OutreachPatch,
      status: 200,
      answer: Candidate,
      problems: ["not_found", "version_mismatch", "candidate_withdrawn"],
      handle: ({ caller, params, body, precondition }) => candidates.setOutreach(caller.accountId, params.id, body, precondition),
    }),
  ];
}
