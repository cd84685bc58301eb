import { endpoint } from "../api/endpoint.ts";
import { patched, withOutreach } from "./edits.ts";
import type { Eraser } from "./eraser.ts";
import { Candidate, CandidatePath, DryRun, ListQuery } from "./schema.ts";
import { CandidateList } from "./row-schema.ts";
import { CandidateInput, CandidatePatch, CreateQuery, OutreachPatch, StartInput } from "./input-schema.ts";
import { UNTAGGED } from "./render.ts";
import type { CandidateService } from "./service.ts";

/** The response of endpoints that return a candidate. */
const CANDIDATE = { response: Candidate, untagged: UNTAGGED } as const;

export function candidateEndpoints(candidates: CandidateService, eraser: Eraser) {
  return {
    create: endpoint({
      name: "createCandidate",
      tag: "Candidates",
      summary: "Create a candidate",
      description:
        "Creates a candidate, with documents and references if you send them. Send an Idempotency-Key, so that a retry creates no second one. With dry_run=true it says what it would create and stores nothing.",
      query: CreateQuery,
      body: CandidateInput,
      status: 201,
      ...CANDIDATE,
      problems: ["external_id_taken", "invalid_transition", "candidate_deleted"],
      location: ({ id }) => `/candidates/${id}`,
      handle: ({ caller, body, newId }) => candidates.create(caller.accountId, body, newId),
      dryRun: {
        surface: "reads",
        response: DryRun,
        handle: ({ caller, body, newId }) => candidates.rehearse(caller.accountId, body, newId),
      },
    }),
    list: endpoint({
      name: "listCandidates",
      tag: "Candidates",
      summary: "List candidates, oldest change first: the change feed",
      description:
        "Lists whole candidates, oldest change first. Store the cursor with the rows: the next request with it returns only what changed since. A candidate that was deleted is a row with the member deleted.",
      query: ListQuery,
      response: CandidateList,
      problems: ["invalid_query"],
      handle: ({ caller, query, header, clientHas }) =>
        candidates.list(caller.accountId, query, header("if-none-match") === undefined ? undefined : clientHas),
    }),
    read: endpoint({
      name: "readCandidate",
      tag: "Candidates",
      summary: "Read a candidate",
      description:
        "Reads a candidate with its documents and references. To follow many candidates, use the list: one page replaces 200 reads.",
      params: CandidatePath,
      ...CANDIDATE,
      problems: ["not_found"],
      handle: ({ caller, params }) => candidates.read(caller.accountId, params.id),
    }),
    update: endpoint({
      name: "updateCandidate",
      tag: "Candidates",
      summary: "Update, withdraw or reinstate a candidate",
      description: "Changes the fields that are sent. withdrawn: true withdraws the candidate, false reinstates it.",
      params: CandidatePath,
      body: CandidatePatch,
      ...CANDIDATE,
      problems: ["not_found", "version_mismatch", "external_id_taken"],
      handle: ({ caller, params, body, precondition }) =>
        candidates.change(caller.accountId, params.id, precondition, (record) => patched(record, body)),
    }),
    setOutreach: endpoint({
      name: "setOutreach",
      tag: "Outreach",
      summary: "Turn reminders of a candidate off or on, or change how many there are",
      description:
        "Changes whether reminders go out for the candidate, how often it is reminded of documents, and how often each referee is. Turned on again, reminders go on from that moment: nothing is sent for the time before.",
      params: CandidatePath,
      body: OutreachPatch,
      ...CANDIDATE,
      problems: ["not_found", "version_mismatch"],
      handle: ({ caller, params, body, precondition }) =>
        candidates.change(caller.accountId, params.id, precondition, (record, now) => withOutreach(record, body, now)),
    }),
    erase: endpoint({
      name: "deleteCandidate",
      tag: "Candidates",
      summary: "Delete a candidate and erase the person's data",
      description:
        "Erases the person: the candidate, its documents with their bytes, and its references. The list keeps a row without personal data. Deleting it again answers 204 again.",
      params: CandidatePath,
      status: 204,
      problems: ["not_found", "version_mismatch"],
      handle: ({ caller, params, precondition }) => eraser.erase(caller, params.id, precondition).then(() => undefined),
    }),
    start: endpoint({
      name: "startCandidate",
      tag: "Candidates",
      summary: "Start a candidate and request its documents and references",
      description:
        "Requests every pending document and every reference that is not requested yet. A candidate that is started already is answered unchanged. **Within seconds of the start, the candidate is mailed about its documents, and so is each referee. To mail nobody, create the candidate with outreach_enabled false, or turn the assistant off in the settings first.**",
      params: CandidatePath,
      body: StartInput,
      bodyOptional: true,
      ...CANDIDATE,
      problems: ["not_found", "version_mismatch", "candidate_withdrawn"],
      handle: ({ caller, params, precondition }) => candidates.start(caller.accountId, params.id, precondition),
    }),
  };
}
