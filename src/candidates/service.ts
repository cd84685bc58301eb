import { type IncomingFile, rehearsedFile, type StoredFile } from "../content/file.ts";
import type { ContentStore } from "../content/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import { RenderedJson } from "../infra/json-parts.ts";
import { type Precondition, Problem } from "../problems.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { checkNewDocument, inlineFile, newDocument } from "./documents.ts";
import { newDraft, started } from "./edits.ts";
import { alive, filesOf } from "./erasure.ts";
import type { Candidate, DryRun, ListQuery } from "./schema.ts";
import { advance, cursorAt, decodeCursor, encodeCursor, type FeedPage, type FeedEntry } from "./feed.ts";
import type { CandidateInput } from "./input-schema.ts";
import { type CandidateKey, type DocumentRecord, type Draft, namesFile } from "./record.ts";
import { renderCandidate, taggedCandidate } from "./render.ts";
import { pageTag, renderPage } from "./rows.ts";
import type { CandidateStore, Edit } from "./store.ts";

const MAX_PAGE_ROWS = 1_000;

interface CandidateServiceOptions {
  store: CandidateStore;
  content: ContentStore;
  clock: Clock;
  /** Maximum time of a write plus clock skew between replicas, in milliseconds. */
  feedLagMs: number;
  checkpoints: Pick<Checkpoints, "completeUntil">;
}

/** The operations on candidates. The endpoints list the problems of each. */
export class CandidateService {
  readonly #options: CandidateServiceOptions;

  constructor(options: CandidateServiceOptions) {
    this.#options = options;
  }

  async create(accountId: string, given: CandidateInput, newId: NewId): Promise<Candidate> {
    const { content, store } = this.#options;
    const id = newId("cand");
    const owner = { accountId, candidateId: id };
    let draft: Draft;
    try {
      draft = await this.#draft({ accountId, id }, given, newId, (file) => content.store(file, owner));
    } catch (error) {
      // A retry may be refused only because a day has passed since an interrupted attempt of this request created the
      // candidate: an expires_on was not past then.
      const isRefused = error instanceof Problem && error.code === "invalid_transition";
      const earlier = isRefused ? await store.reader.find(accountId, id) : null;
      if (earlier === null) throw error;
      return renderCandidate(alive(earlier));
    }
    // If an interrupted attempt already created the candidate, this retry uploaded its files a second time. `settle`
    // removes the duplicates.
    const record = await content.settle(filesOf(draft.documents), () => store.insert(draft), namesFile);
    return renderCandidate(record);
  }

  /** Does what `create` does, but writes nothing. The ids in the response are examples. */
  async rehearse(accountId: string, given: CandidateInput, newId: NewId): Promise<DryRun> {
    const draft = await this.#draft({ accountId, id: newId("cand") }, given, newId, rehearsedFile);
    return { object: "dry_run", valid: true, would_create: renderCandidate(await this.#options.store.rehearse(draft)) };
  }

  async read(accountId: string, id: string): Promise<Candidate> {
    return renderCandidate(await this.#options.store.reader.get(accountId, id));
  }

  async start(accountId: string, id: string, precondition: Precondition): Promise<Candidate> {
    // If-Match is ignored if the candidate is already started: a retry after a lost response must succeed.
    const record = await this.#options.store.change(accountId, id, (before, now) => {
      if (before.started_at === null || before.withdrawn) precondition([taggedCandidate(before)]);
      return started(before, now);
    });
    return renderCandidate(record);
  }

  /** Makes one change. @param edit as in CandidateStore.change. */
  async change(accountId: string, id: string, precondition: Precondition, edit: Edit): Promise<Candidate> {
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
   */
  async list(
    accountId: string,
    { limit, cursor, state, external_id, updated_since }: ListQuery,
    clientHas?: (tag: string) => boolean,
  ): Promise<RenderedJson> {
    const { store, feedLagMs, checkpoints } = this.#options;
    const from = cursor ? decodeCursor(cursor) : cursorAt(updated_since, feedLagMs);
    // The lag allows for clock skew, and for processes of an earlier version, which make no checkpoints.
    const completeUntil = Math.min(store.feedClock.now() - feedLagMs, checkpoints.completeUntil());
    const query = { accountId, after: from.after, state, external_id, limit: Math.min(limit, MAX_PAGE_ROWS) };
    const cursorAfter = (page: FeedPage<FeedEntry>) => encodeCursor(advance(from, page, completeUntil));
    if (clientHas !== undefined) {
      const positions = await store.reader.positions(query);
      const tag = pageTag(positions, cursorAfter(positions));
      if (clientHas(tag)) return new RenderedJson(Buffer.alloc(0), tag);
    }
    const page = await store.reader.feed(query);
    return renderPage(page, cursorAfter(page));
  }

  /** Builds a new candidate. If it fails, removes the files that it has stored. */
  async #draft(
    { accountId, id }: CandidateKey,
    given: CandidateInput,
    newId: NewId,
    storeFile: (file: IncomingFile) => Promise<StoredFile>,
  ): Promise<Draft> {
    const situation = { started: false, now: timestamp(this.#options.clock.now()) };
    const all = (given.documents ?? []).map((each) => (typeof each === "string" ? { name: each } : each));
    for (const [n, each] of all.entries()) checkNewDocument(each, { ...situation, at: `/documents/${n}` });
    const documents: DocumentRecord[] = [];
    try {
      for (const [n, each] of all.entries()) {
        const content = each.content ? await storeFile(inlineFile(each.content)) : undefined;
        documents.push(newDocument(each, { id: newId("doc"), content, ...situation, at: `/documents/${n}` }));
      }
      return newDraft(given, { id, accountId, documents, newId, now: situation.now });
    } catch (error) {
      await this.#options.content.discard(filesOf(documents).filter((id) => id !== "")); // a dry run has stored none
      throw error;
    }
  }
}
