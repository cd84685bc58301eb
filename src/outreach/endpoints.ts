import { endpoint } from "../api/endpoint.ts";
import { Candidate, CandidatePath, OutreachPatch } from "../candidates/schema.ts";
import type { OutreachService } from "./service.ts";

/** The operation that sets how often a candidate's documents and references are chased. */
export function outreachEndpoints(outreach: OutreachService) {
  return {
    set: endpoint({
      name: "setOutreach",
      summary: "Change docs_chase_attempts and reference_chase_attempts",
      params: CandidatePath,
      body: OutreachPatch,
      status: 200,
      answer: Candidate,
      problems: ["not_found", "version_mismatch"],
      handle: ({ caller, params, body, precondition }) => outreach.set(caller.accountId, params.id, body, precondition),
    }),
  };
}
