import { endpoint } from "../api/endpoint.ts";
import { problemMembers } from "../http/problem.ts";
import { BinaryResponse, jsonHeaders } from "../http/response.ts";
import { type Fault, Problem } from "../problems.ts";
import type { BulkService, Done } from "./bulk.ts";
import { Bulk, BulkCreateInput, BulkCreateQuery, BulkPatch, BulkUpdateInput, BulkUpdateQuery } from "./bulk-schema.ts";
import { History, HistoryQuery } from "./history-schema.ts";
import { patched, withOutreach } from "./edits.ts";
import type { Eraser } from "./eraser.ts";
import { Candidate, CandidateOrDryRun, CandidatePath, ListQuery } from "./schema.ts";
import { keepUnreadable } from "./unreadable.ts";
import { CandidateList } from "./row-schema.ts";
import { CandidateInput, CandidatePatch, CreateQuery, OutreachPatch, StartInput } from "./input-schema.ts";
import { renderCandidate, taggedView } from "./render.ts";
import type { CandidateService } from "./service.ts";

/** What endpoints have in common: those that return a candidate, that are about one, and that take several. */
const CANDIDATE = { response: Candidate, tagged: taggedView } as const;
const ONE = { tag: "Candidates", params: CandidatePath } as const;
const SEVERAL = { tag: "Candidates", response: Bulk, problems: ["invalid_query"] } as const;

function withWarnings(candidate: Candidate, warnings: readonly Fault[]): Candidate {
  return warnings.length === 0 ? candidate : { ...candidate, warnings: [...warnings] };
}

/**
 * Renders what became of the candidates of a request. A response that is stored has no external_ids: they may be personal, and
 * would outlive an erasure. api/entries.ts adds those of the request.
 */
function bulkOf(done: readonly Done[], requestId: string, { isStored = false } = {}): Bulk {
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 };
  const results = done.map((each, index): Bulk["results"][number] => {
    counts[each instanceof Problem ? "failed" : each.outcome]++;
    if (each instanceof Problem) return { index, status: each.status, problem: problemMembers(each, requestId) };
    const { id, external_id, version } = each.record;
    const warnings = each.warnings.length === 0 ? {} : { warnings: [...each.warnings] };
    return {
      index,
      status: each.outcome === "created" ? 201 : 200,
      id,
      external_id: isStored ? null : external_id,
      version,
      ...warnings,
    };
  });
  return { object: "bulk", ...counts, results };
}

export function candidateEndpoints(candidates: CandidateService, bulks: BulkService, eraser: Eraser) {
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
      outcomes: true,
      keepUnreadable,
      async handle({ caller, body, query: { on_conflict }, warnings, newId }) {
        const { record, outcome } = await candidates.put(caller, body, newId, on_conflict);
        const value = withWarnings(renderCandidate(record), warnings);
        return { outcome: on_conflict && outcome, value };
      },
      dryRun: {
        surface: "reads",
        response: CandidateOrDryRun,
        async handle({ caller, body, query: { on_conflict }, warnings, newId }) {
          const { would_create, ...rest } = await candidates.rehearse(caller, body, newId, on_conflict);
          return { ...rest, would_create: withWarnings(would_create, warnings) };
        },
      },
    }),
    createMany: endpoint({
      ...SEVERAL,
      name: "createCandidates",
      summary: "Create up to 100 candidates, or bring them in line",
      description:
        "Creates each candidate as POST /candidates does. Each may fail alone. Send JSON, or NDJSON with one candidate in each line, of up to 8 MiB. Send an Idempotency-Key: a retry goes on where an interrupted attempt stopped, and creates nothing twice.",
      query: BulkCreateQuery,
      body: BulkCreateInput,
      entries: { name: "candidates", schema: CandidateInput, repeats: "external_id" },
      keepUnreadable,
      handle: async ({ caller, body, query: { on_conflict: onConflict }, newId, requestId }) =>
        bulkOf(await bulks.create(caller, body, { newId, onConflict }), requestId, { isStored: true }),
    }),
    updateMany: endpoint({
      ...SEVERAL,
      name: "updateCandidates",
      summary: "Change up to 100 candidates",
      description:
        "Changes each candidate as PATCH /candidates/{id} and PATCH /candidates/{id}/outreach do. Each may fail alone. Send JSON, or NDJSON with one change in each line.",
      query: BulkUpdateQuery,
      body: BulkUpdateInput,
      entries: { name: "candidates", schema: BulkPatch, repeats: "external_id" },
      handle: async ({ caller, body, requestId }) => bulkOf(await bulks.update(caller, body), requestId),
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
      async handle({ caller, query, header, clientHas }) {
        const asked = header("if-none-match") === undefined ? undefined : clientHas;
        const { body, tag } = await candidates.list(caller.accountId, query, asked);
        return new BinaryResponse(200, jsonHeaders(tag), body);
      },
    }),
    read: endpoint({
      ...ONE,
      name: "readCandidate",
      summary: "Read a candidate",
      description:
        "Reads a candidate with its documents and references. To follow many candidates, use the list: one page replaces 200 reads.",
      ...CANDIDATE,
      problems: ["not_found"],
      handle: ({ caller, params }) => candidates.read(caller.accountId, params.id),
    }),
    history: endpoint({
      ...ONE,
      name: "readHistory",
      summary: "Read what changed of a candidate, by whom and when",
      description:
        "Reads the history of a candidate, the newest entry first: who created, changed, started, withdrew or held it, moved or removed its documents and references, and which messages were made. It has names of fields, and never their values. It is erased with the candidate.",
      query: HistoryQuery,
      response: History,
      problems: ["not_found", "invalid_query"],
      handle: ({ caller, params, query }) => candidates.history(caller.accountId, params.id, query),
    }),
    update: endpoint({
      ...ONE,
      name: "updateCandidate",
      summary: "Update, withdraw or reinstate a candidate",
      description: "Changes the fields that are sent. withdrawn: true withdraws the candidate, false reinstates it.",
      body: CandidatePatch,
      ...CANDIDATE,
      problems: ["not_found", "version_mismatch", "external_id_taken"],
      handle: ({ caller, params, body, precondition }) =>
        candidates.change(caller, params.id, precondition, (record) => patched(record, body)),
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
        candidates.change(caller, params.id, precondition, (record, now) => withOutreach(record, body, now)),
    }),
    erase: endpoint({
      ...ONE,
      name: "deleteCandidate",
      summary: "Delete a candidate and erase the person's data",
      description:
        "Erases the person: the candidate, its documents with their bytes, and its references. The list keeps a row without personal data. Deleting it again answers 204 again.",
      status: 204,
      problems: ["not_found", "version_mismatch", "on_hold"],
      handle: ({ caller, params, precondition }) => eraser.erase(caller, params.id, precondition).then(() => undefined),
    }),
    start: endpoint({
      ...ONE,
      name: "startCandidate",
      summary: "Start a candidate and request its documents and references",
      description:
        "Requests every pending document and every reference that is not requested yet. A candidate that is started already is answered unchanged. **Within seconds of the start, the candidate is mailed about its documents, and so is each referee. To mail nobody, create the candidate with outreach_enabled false, or turn the assistant off in the settings first.**",
      body: StartInput,
      bodyOptional: true,
      ...CANDIDATE,
      problems: ["not_found", "version_mismatch", "candidate_withdrawn"],
      handle: ({ caller, params, precondition }) => candidates.start(caller, params.id, precondition),
    }),
  };
}
