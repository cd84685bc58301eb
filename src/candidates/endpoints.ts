import { endpoint } from "../api/endpoint.ts";
import { strict } from "../schema/fields.ts";
import {
  Candidate,
  CandidateList,
  CandidatePatch,
  CandidatePath,
  CreateQuery,
  DryRun,
  ListQuery,
  NewCandidate,
} from "./schema.ts";
import type { Eraser } from "./eraser.ts";
import type { CandidateService } from "./service.ts";

/** A body without members: `{}`. */
const EmptyBody = strict({});

/** The operations on candidates as a whole. */
export function candidateEndpoints(candidates: CandidateService, eraser: Eraser) {
  return {
    create: endpoint({
      name: "createCandidate",
      summary: "Create a candidate",
      query: CreateQuery,
      body: NewCandidate,
      status: 201,
      answer: Candidate,
      problems: ["external_id_taken", "invalid_transition", "candidate_deleted"],
      location: ({ id }) => `/candidates/${id}`,
      handle: ({ caller, body, newId }) => candidates.create(caller.accountId, body, newId),
      dryRun: {
        surface: "reads",
        answer: DryRun,
        handle: ({ caller, body, newId }) => candidates.rehearse(caller.accountId, body, newId),
      },
    }),
    list: endpoint({
      name: "listCandidates",
      summary: "List candidates, oldest change first: the change feed",
      query: ListQuery,
      status: 200,
      answer: CandidateList,
      problems: ["invalid_query"],
      handle: ({ caller, query }) => candidates.list(caller.accountId, query),
    }),
    read: endpoint({
      name: "readCandidate",
      summary: "Read a candidate",
      params: CandidatePath,
      status: 200,
      answer: Candidate,
      problems: ["not_found"],
      handle: ({ caller, params }) => candidates.read(caller.accountId, params.id),
    }),
    update: endpoint({
      name: "updateCandidate",
      summary: "Update, withdraw or reinstate a candidate",
      params: CandidatePath,
      body: CandidatePatch,
      status: 200,
      answer: Candidate,
      problems: ["not_found", "version_mismatch", "external_id_taken"],
      handle: ({ caller, params, body, precondition }) =>
        candidates.update(caller.accountId, params.id, body, precondition),
    }),
    erase: endpoint({
      name: "deleteCandidate",
      summary: "Delete a candidate and erase the person's data",
      params: CandidatePath,
      status: 204,
      problems: ["not_found", "version_mismatch"],
      handle: ({ caller, params, precondition }) => eraser.erase(caller, params.id, precondition).then(() => undefined),
    }),
    start: endpoint({
      name: "startCandidate",
      summary: "Start a candidate and request its documents and references",
      params: CandidatePath,
      body: EmptyBody,
      bodyOptional: true,
      status: 200,
      answer: Candidate,
      problems: ["not_found", "version_mismatch", "candidate_withdrawn"],
      handle: ({ caller, params, precondition }) => candidates.start(caller.accountId, params.id, precondition),
    }),
  };
}
