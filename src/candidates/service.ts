import { type IncomingFile, rehearsedFile, type StoredFile } from "../content/file.ts";
import type { ContentStore } from "../content/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import { RenderedJson } from "../infra/json-parts.ts";
import { type Precondition, Problem } from "../problems.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { checkNewDocument, inlineFile, newDocument } from "./documents.ts";
import { newDraft, patched, started, withOutreach } from "./edits.ts";
import { alive } from "./erasure.ts";
import type { Candidate, DryRun, ListQuery } from "./schema.ts";
import { advance, cursorAt, decodeCursor, encodeCursor, type FeedPage, type FeedEntry } from "./feed.ts";
import type { CandidateInput, CandidatePatch, OutreachPatch } from "./input-schema.ts";
import { type CandidateRecord, type DocumentRecord, namesFile } from "./record.ts";
import { renderCandidate, taggedCandidate } from "./render.ts";
import { pageTag, renderPage } from "./rows.ts";
import type { CandidateStore, Edit } from "./store.ts";

const MAX_PAGE_ROWS = 200;

export interface CandidateServiceOptions {
  store: CandidateStore;
  content: ContentStore;
  clock: Clock;
  /** The longest a write may take plus clock skew between replicas, in milliseconds. */
  feedLagMs: number;
  checkpoints: Pick<Checkpoints, "completeUntil">;
}

/** The operations on candidates. Every method may throw problem store_unavailable. */
export class CandidateService {
  readonly #options: CandidateServiceOptions;

  constructor(options: CandidateServiceOptions) {
    this.#options = options;
  }

  /**
   * Creates a candidate, or nothing if it fails.
   * @throws problems external_id_taken, invalid_transition, validation_failed, payload_too_large.
   */
  async create(accountId: string, given: CandidateInput, newId: NewId): Promise<Candidate> {
    const now = timestamp(this.#options.clock.now());
    const id = newId("cand");
    const owner = { accountId, candidateId: id };
    let documents: DocumentRecord[];
    try {
      documents = await this.#newDocuments(given, newId, now, (file) => this.#options.content.store(file, owner));
    } catch (error) {
      const earlier = await this.#createdBefore(error, accountId, id);
      if (earlier === null) throw error;
      return renderCandidate(earlier);
    }
    const draft = newDraft(given, { id, accountId, documents, newId, now });
    // If an interrupted attempt already created the candidate, this retry uploaded its files a second time. `settle`
    // removes the duplicates.
    const insert = () => this.#options.store.insert(draft);
    return renderCandidate(await this.#options.content.settle(fileIdsOf(documents), insert, namesFile));
  }

  /**
   * Returns the candidate that an interrupted attempt of this request created, if the retry is refused only because a day
   * has passed since: an expires_on was not past then.
   * @throws problem candidate_deleted
   */
  async #createdBefore(error: unknown, accountId: string, id: string): Promise<CandidateRecord | null> {
    if (!(error instanceof Problem && error.code === "invalid_transition")) return null;
    const found = await this.#options.store.reader.find(accountId, id);
    return found === null ? null : alive(found);
  }

  /** Does what `create` does, but writes nothing. The ids in the response are examples. @throws as `create` does. */
  async rehearse(accountId: string, given: CandidateInput, newId: NewId): Promise<DryRun> {
    const now = timestamp(this.#options.clock.now());
    const documents = await this.#newDocuments(given, newId, now, rehearsedFile);
    const draft = newDraft(given, { id: newId("cand"), accountId, documents, newId, now });
    return { object: "dry_run", valid: true, would_create: renderCandidate(await this.#options.store.rehearse(draft)) };
  }

  /** @throws problem not_found, also for another account's candidate. */
  async read(accountId: string, id: string): Promise<Candidate> {
    return renderCandidate(await this.#options.store.reader.get(accountId, id));
  }

  /** @throws problems not_found, version_mismatch, external_id_taken, validation_failed. */
  async update(accountId: string, id: string, patch: CandidatePatch, precondition: Precondition): Promise<Candidate> {
    return this.#change(accountId, id, precondition, (record) => patched(record, patch));
  }

  /**
   * Starts a candidate. Returns it unchanged if it is already started.
   * @throws problems not_found, version_mismatch, candidate_withdrawn.
   */
  async start(accountId: string, id: string, precondition: Precondition): Promise<Candidate> {
    // If-Match is ignored if the candidate is already started: a retry after a lost response must succeed.
    const record = await this.#options.store.change(accountId, id, (before, now) => {
      if (before.started_at === null || before.withdrawn) precondition([taggedCandidate(before)]);
      return started(before, now);
    });
    return renderCandidate(record);
  }

  /** Changes how often documents and references are chased. @throws problems not_found, version_mismatch. */
  async setOutreach(
    accountId: string,
    id: string,
    patch: OutreachPatch,
    precondition: Precondition,
  ): Promise<Candidate> {
    return this.#change(accountId, id, precondition, (record) => withOutreach(record, patch));
  }

  async #change(accountId: string, id: string, precondition: Precondition, edit: Edit): Promise<Candidate> {
    const record = await this.#options.store.change(accountId, id, (before, now) => {
      precondition([taggedCandidate(before)]);
      return edit(before, now);
    });
    return renderCandidate(record);
  }

  /**
   * Returns a page of the change feed, a CandidateList.
   * @param clientHas tells whether the client has the page with this entity tag (If-None-Match). Its rows are then not
   * read.
   * @throws problem invalid_query if the cursor is not valid.
   */
  async list(
    accountId: string,
    { limit, cursor, state, external_id, updated_since }: ListQuery,
    clientHas?: (tag: string) => boolean,
  ): Promise<RenderedJson> {
    const from = cursor ? decodeCursor(cursor) : cursorAt(updated_since, this.#options.feedLagMs);
    // The lag allows for clock skew, and for processes of an earlier version, which make no marks.
    const completeUntil = Math.min(
      this.#options.store.feedClock.now() - this.#options.feedLagMs,
      this.#options.checkpoints.completeUntil(),
    );
    const query = { accountId, after: from.after, state, external_id, limit: Math.min(limit, MAX_PAGE_ROWS) };
    const cursorAfter = (page: FeedPage<FeedEntry>) => encodeCursor(advance(from, page, completeUntil));
    if (clientHas !== undefined) {
      const positions = await this.#options.store.reader.positions(query);
      const tag = pageTag(positions, cursorAfter(positions));
      if (clientHas(tag)) return new RenderedJson(Buffer.alloc(0), tag);
    }
    const page = await this.#options.store.reader.feed(query);
    return renderPage(page, cursorAfter(page));
  }

  async #newDocuments(
    { documents }: CandidateInput,
    newId: NewId,
    now: string,
    storeFile: (file: IncomingFile) => Promise<StoredFile>,
  ): Promise<DocumentRecord[]> {
    const all = (documents ?? []).map((each) => (typeof each === "string" ? { name: each } : each));
    for (const [n, given] of all.entries()) checkNewDocument(given, { now, started: false, at: `/documents/${n}` });
    const records: DocumentRecord[] = [];
    try {
      for (const [n, given] of all.entries()) {
        const content = given.content ? await storeFile(inlineFile(given.content)) : undefined;
        records.push(newDocument(given, { id: newId("doc"), now, content, started: false, at: `/documents/${n}` }));
      }
    } catch (error) {
      await this.#options.content.discard(fileIdsOf(records));
      throw error;
    }
    return records;
  }
}

function fileIdsOf(documents: readonly DocumentRecord[]): string[] {
  return documents.flatMap(({ content }) => (content === null ? [] : [content.file_id]));
}
