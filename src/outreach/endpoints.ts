import { endpoint } from "../api/endpoint.ts";
import { Candidate, CandidatePath } from "../candidates/schema.ts";
import { OutreachPatch } from "../candidates/input-schema.ts";
import type { OutreachService } from "./service.ts";
import { UNTAGGED } from "../candidates/render.ts";

/** The operation that sets how often a candidate's documents and references are chased. */
export function outreachEndpoints(outreach: OutreachService) {
  return {
    set: endpoint({
      name: "setOutreach",
      tag: "Outreach",
      summary: "Change docs_chase_attempts and reference_chase_attempts",
      description: "Changes how often the candidate is reminded of documents, and how often each referee is.",
      params: CandidatePath,
      body: OutreachPatch,
      answer: Candidate,
      untagged: UNTAGGED,
      problems: ["not_found", "version_mismatch"],
      handle: ({ caller, params, body, precondition }) => outreach.set(caller.accountId, params.id, body, precondition),
    }),
  };
}
