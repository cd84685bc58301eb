import { type Download, download, type Range, rangeHeaders } from "./download.ts";
import { Mirror, type MirrorOptions } from "./mirror.ts";
import { type Bytes, formPayload, jsonPayload } from "./payload.ts";
import { path } from "./path.ts";
import type { CreateOptions, Rows, SyncOptions, SyncResult } from "./sync.ts";
import { bulkCall, importQuery, sync } from "./sync.ts";
import { type CallOptions, type ClientOptions, json, Transport } from "./transport.ts";
import type * as api from "./types.gen.ts";
import { uploadCall, type UploadOptions } from "./upload.ts";

type Created<Dry> = Dry extends true ? api.DryRun : api.Candidate;

/** A method for each operation. Each may throw RateLimitError, ProblemError, ConnectionError, or the reason of an aborted signal. */
export class OnboardingClient {
  readonly #calls: Transport;

  /** @throws TypeError if baseUrl is no http URL. */
  constructor(options: ClientOptions) {
    this.#calls = new Transport(options);
  }

  /** Every limit of the account and the key, and the key's live grants. It is free. */
  readLimits(options: CallOptions = {}): Promise<api.Limits> {
    return this.#calls.get("/limits", options, "free");
  }

  /** What each key of the account used and was refused in the last 24 hours. It is free, and up to a minute old. */
  readUsage(options: CallOptions = {}): Promise<api.UsageReport> {
    return this.#calls.get("/limits/usage", options, "free");
  }

  /** The service's contract, as an OpenAPI document. Counts against no limit. */
  readContract(options: CallOptions = {}): Promise<api.Contract> {
    return this.#calls.get("/openapi.json", options, "free");
  }

  /** @param options with `dryRun: true`, says what the call would do, and stores nothing. It then counts as a read. */
  createCandidate<Dry extends boolean = false>(
    body: api.CandidateInput,
    { dryRun, ...options }: CreateOptions & { readonly dryRun?: Dry } = {},
  ): Promise<Created<Dry>> {
    const query = { dry_run: dryRun || undefined, ...importQuery(options) };
    const call = { method: "POST", path: "/candidates", query, payload: jsonPayload(body), options } as const;
    return this.#calls.send({ ...call, surface: dryRun ? "reads" : "create" }, json<Created<Dry>>);
  }

  /** Creates up to 100 candidates, each of which may fail alone. The call counts as that many. */
  createCandidates(candidates: readonly api.CandidateInput[], options: CreateOptions = {}): Promise<api.Bulk> {
    return this.#calls.send(bulkCall("POST", candidates, options), json<api.Bulk>);
  }

  /** Changes up to 100 candidates by `id`, or else by `external_id`. Each may fail alone. The call counts as that many. */
  updateCandidates(changes: readonly api.BulkPatch[], options: CallOptions = {}): Promise<api.Bulk> {
    return this.#calls.send(bulkCall("PATCH", changes, options), json<api.Bulk>);
  }

  /**
   * Compares the rows of another system with what the service has, and sends the differences in few requests. See README.md.
   * @throws {SyncRefused} before anything is sent; else what any call may throw. Then call it again: it goes on.
   */
  sync(rows: Rows, options: SyncOptions): Promise<SyncResult> {
    return sync(rows, options, {
      stored: () => this.mirror({ signal: options.signal }),
      bulk: (call) => this.#calls.send({ ...call, shrinks: true }, json<api.Bulk>),
      erase: (id, call) => this.deleteCandidate(id, call),
    });
  }

  /** One page of the list. To keep a copy of all candidates, use `mirror`. */
  listCandidates(
    query: NonNullable<api.ListCandidatesData["query"]> = {},
    options: CallOptions = {},
  ): Promise<api.CandidateList> {
    return this.#calls.get("/candidates", options, "list", query);
  }

  /** All candidates, and then all changes. */
  mirror(options: MirrorOptions = {}): Mirror {
    return new Mirror((query, call) => this.listCandidates(query, call), options);
  }

  readCandidate(id: string, options: CallOptions = {}): Promise<api.Candidate> {
    return this.#calls.get(path`/candidates/${id}`, options);
  }

  /** What changed of a candidate, the newest first. */
  readHistory(id: string, options: CallOptions & NonNullable<api.ReadHistoryData["query"]> = {}): Promise<api.History> {
    const { limit, cursor, ...rest } = options;
    return this.#calls.get(path`/candidates/${id}/history`, rest, "reads", { limit, cursor });
  }

  updateCandidate(id: string, patch: api.CandidatePatch, options: CallOptions = {}): Promise<api.Candidate> {
    return this.#calls.patch(path`/candidates/${id}`, patch, options);
  }

  /** Erases the person: candidate, documents and references. */
  deleteCandidate(id: string, options: CallOptions = {}): Promise<void> {
    return this.#calls.delete(path`/candidates/${id}`, options);
  }

  startCandidate(id: string, options: CallOptions = {}): Promise<api.Candidate> {
    return this.#calls.post(path`/candidates/${id}/start`, options, "start");
  }

  readOutreach(id: string, options: CallOptions = {}): Promise<api.CandidateOutreach> {
    return this.#calls.get(path`/candidates/${id}/outreach`, options);
  }

  remindCandidate(id: string, options: CallOptions = {}): Promise<api.Candidate> {
    return this.#calls.post(path`/candidates/${id}/outreach/remind`, options, "writes");
  }

  setOutreach(id: string, patch: api.OutreachPatch, options: CallOptions = {}): Promise<api.Candidate> {
    return this.#calls.patch(path`/candidates/${id}/outreach`, patch, options);
  }

  /** @param options `file` is the document's content. For a stream, call `putDocumentContent` afterwards. */
  addDocument(
    candidateId: string,
    document: api.DocumentInput,
    { file, ...options }: CallOptions & { readonly file?: Blob } = {},
  ): Promise<api.Document> {
    const payload = file === undefined ? jsonPayload(document) : formPayload(document, file);
    return this.#calls.post(path`/candidates/${candidateId}/documents`, options, "writes", payload);
  }

  readDocument(candidateId: string, documentId: string, options: CallOptions = {}): Promise<api.Document> {
    return this.#calls.get(path`/candidates/${candidateId}/documents/${documentId}`, options);
  }

  updateDocument(
    candidateId: string,
    documentId: string,
    patch: api.DocumentPatch,
    options: CallOptions = {},
  ): Promise<api.Document> {
    return this.#calls.patch(path`/candidates/${candidateId}/documents/${documentId}`, patch, options);
  }

  deleteDocument(candidateId: string, documentId: string, options: CallOptions = {}): Promise<void> {
    return this.#calls.delete(path`/candidates/${candidateId}/documents/${documentId}`, options);
  }

  /**
   * Uploads the document's content.
   * @param bytes of a stream, only as much is in memory as is being sent. A stream cannot be sent again: for retries give
   * a Blob, or a function that opens the stream.
   */
  putDocumentContent(
    candidateId: string,
    documentId: string,
    bytes: Bytes,
    options: CallOptions & UploadOptions = {},
  ): Promise<api.Document> {
    const at = path`/candidates/${candidateId}/documents/${documentId}/content`;
    return this.#calls.send(uploadCall(at, bytes, options), json<api.Document>);
  }

  readDocumentContent(
    candidateId: string,
    documentId: string,
    { range, ...options }: CallOptions & { readonly range?: Range } = {},
  ): Promise<Download> {
    const at = path`/candidates/${candidateId}/documents/${documentId}/content`;
    const headers = rangeHeaders(range);
    return this.#calls.send({ method: "GET", path: at, surface: "reads", headers, options }, download);
  }

  addReference(candidateId: string, reference: api.ReferenceInput, options: CallOptions = {}): Promise<api.Reference> {
    return this.#calls.post(path`/candidates/${candidateId}/references`, options, "writes", jsonPayload(reference));
  }

  readReference(id: string, options: CallOptions = {}): Promise<api.Reference> {
    return this.#calls.get(path`/references/${id}`, options);
  }

  updateReference(id: string, patch: api.ReferencePatch, options: CallOptions = {}): Promise<api.Reference> {
    return this.#calls.patch(path`/references/${id}`, patch, options);
  }

  deleteReference(id: string, options: CallOptions = {}): Promise<void> {
    return this.#calls.delete(path`/references/${id}`, options);
  }

  readPack(id: string, options: CallOptions = {}): Promise<api.Pack> {
    return this.#calls.get(path`/candidates/${id}/pack`, options, "pack", { format: "json" });
  }

  /** The pack as a file. */
  downloadPack(id: string, format: "pdf" | "zip", options: CallOptions = {}): Promise<Download> {
    const at = path`/candidates/${id}/pack`;
    return this.#calls.send({ method: "GET", path: at, surface: "pack", query: { format }, options }, download);
  }

  readAssistantSettings(options: CallOptions = {}): Promise<api.AssistantSettings> {
    return this.#calls.get("/settings/assistant", options);
  }

  changeAssistantSettings(patch: api.AssistantPatch, options: CallOptions = {}): Promise<api.AssistantSettings> {
    return this.#calls.patch("/settings/assistant", patch, options, "settings");
  }

  readQuietHours(options: CallOptions = {}): Promise<api.QuietHoursSettings> {
    return this.#calls.get("/settings/quiet-hours", options);
  }

  changeQuietHours(patch: api.QuietHoursPatch, options: CallOptions = {}): Promise<api.QuietHoursSettings> {
    return this.#calls.patch("/settings/quiet-hours", patch, options, "settings");
  }

  readRetention(options: CallOptions = {}): Promise<api.RetentionSettings> {
    return this.#calls.get("/settings/retention", options);
  }

  /** After so many days candidates are erased for good. Null: never. */
  changeRetention(patch: api.RetentionPatch, options: CallOptions = {}): Promise<api.RetentionSettings> {
    return this.#calls.patch("/settings/retention", patch, options, "settings");
  }

  createWebhook(body: api.WebhookInput, options: CallOptions = {}): Promise<api.WebhookWithSecret> {
    return this.#calls.post("/webhooks", options, "settings", jsonPayload(body));
  }

  listWebhooks(options: CallOptions = {}): Promise<api.WebhookList> {
    return this.#calls.get("/webhooks", options);
  }

  readWebhook(id: string, options: CallOptions = {}): Promise<api.Webhook> {
    return this.#calls.get(path`/webhooks/${id}`, options);
  }

  updateWebhook(id: string, patch: api.WebhookPatch, options: CallOptions = {}): Promise<api.Webhook> {
    return this.#calls.patch(path`/webhooks/${id}`, patch, options, "settings");
  }

  deleteWebhook(id: string, options: CallOptions = {}): Promise<void> {
    return this.#calls.delete(path`/webhooks/${id}`, options, "settings");
  }

  testWebhook(id: string, options: CallOptions = {}): Promise<api.Webhook> {
    return this.#calls.post(path`/webhooks/${id}/test`, options, "settings");
  }

  rotateWebhook(id: string, options: CallOptions = {}): Promise<api.WebhookWithSecret> {
    return this.#calls.post(path`/webhooks/${id}/rotate`, options, "settings");
  }
}
