import { type IncomingFile, rehearsedFile, type StoredFile } from "../content/file.ts";
import type { ContentStore } from "../content/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import { invalid, type Precondition, Problem } from "../problems.ts";
import { tidier } from "../schema/tidy.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { checkNewDocument, inlineFile, newDocument } from "./documents.ts";
import { documentsOf, newDraft, started } from "./edits.ts";
import { alive, candidateDeleted, filesOf, unlessErased, namesFile } from "./erasure.ts";
import { type Candidate, type DryRun, ExternalId, type ListQuery, type OUTCOMES } from "./schema.ts";
import { advance, cursorAt, decodeCursor, encodeCursor, type FeedEntry, type FeedPage } from "./feed.ts";
import type { History, HistoryQuery } from "./history-schema.ts";
import type { CandidateInput, OnConflict } from "./input-schema.ts";
import { merged, newDocumentsIn, type PartIds, partIds } from "./merges.ts";
import type { Author, CandidateKey, CandidateRecord, DocumentRecord, Draft } from "./record.ts";
import { renderCandidate, taggedCandidate } from "./render.ts";
import { pageTag, renderPage } from "./rows.ts";
import type { CandidateStore, Edit } from "./store.ts";
import { nextRecord } from "./version.ts";
import { searchedWords } from "./words.ts";

const MAX_PAGE_ROWS = 1_000;
const MAX_FOUND = 50;
/** Attempts to create or change a candidate whose external_id changes hands meanwhile. */
const MAX_RACES = 5;
const tidyExternalId = tidier(ExternalId);

export type Outcome = (typeof OUTCOMES)[number];
export interface Put {
  readonly record: CandidateRecord;
  readonly outcome: Outcome;
}

interface Dependencies {
  readonly store: CandidateStore;
  readonly content: ContentStore;
  readonly clock: Clock;
  /** Maximum time of a write plus clock skew between replicas, in milliseconds. */
  readonly feedLagMs: number;
  readonly checkpoints: Pick<Checkpoints, "completeUntil">;
}

export type CandidateService = ReturnType<typeof candidateService>;

/** The operations on candidates. The endpoints list the problems of each. */
export function candidateService({ store, content, clock, feedLagMs, checkpoints }: Dependencies) {
  /** Returns the id of the candidate that has this external_id, in any form that a body may send it. */
  async function idOf(accountId: string, externalId: string): Promise<string | undefined> {
    const text = tidyExternalId(externalId);
    return typeof text === "string" ? store.externalIds.holderOf(accountId, text) : undefined;
  }

  /**
   * Creates a candidate. If its external_id is taken, changes that candidate, or leaves it, as `onConflict` says.
   * @throws problem validation_failed with `onConflict`, but without an external_id.
   */
  async function put(author: Author, given: CandidateInput, newId: NewId, onConflict?: OnConflict): Promise<Put> {
    const { accountId } = author;
    const key = { ...author, id: newId("cand") };
    const ids = onConflict && partIds(given, newId);
    for (let attempt = 1; ; attempt++) {
      const found = ids && (await namesake(accountId, given));
      // The candidate may be its own: an interrupted attempt of this request created it.
      if (ids === undefined || found === undefined || found.id === key.id)
        try {
          return { record: await create(key, given, newId), outcome: "created" };
        } catch (error) {
          const isRace = error instanceof Problem && error.code === "external_id_taken" && ids !== undefined;
          if (!isRace || attempt === MAX_RACES) throw error;
          continue;
        }
      if (onConflict === "skip") return { record: found, outcome: "unchanged" };
      const changed = await unlessErased(mergeInto(author, found, given, ids));
      if (changed !== undefined) return changed;
      if (attempt === MAX_RACES) throw candidateDeleted(found.id);
    }
  }

  async function namesake(accountId: string, { external_id }: CandidateInput): Promise<CandidateRecord | undefined> {
    if (!external_id)
      throw invalid("/external_id", "must be sent with on_conflict: it tells whether the candidate exists");
    const id = await store.externalIds.holderOf(accountId, external_id);
    return id === undefined ? undefined : unlessErased(store.reader.get(accountId, id));
  }

  async function mergeInto(author: Author, found: CandidateRecord, given: CandidateInput, ids: PartIds): Promise<Put> {
    const { accountId, id: candidateId } = found;
    const files = new Map<number, StoredFile>();
    if (merged(found, given, { ids, now: timestamp(clock.now()) }) === found)
      return { record: found, outcome: "unchanged" };
    try {
      for (const [n, { content: inline }] of newDocumentsIn(found, given))
        if (inline) files.set(n, await content.store(inlineFile(inline), { accountId, candidateId }));
    } catch (error) {
      await content.discard([...files.values()].map(({ id }) => id));
      throw error;
    }
    const merge: Edit = (before, now) => merged(before, given, { ids, now, files });
    return content.settle(
      [...files.values()].map(({ id }) => id),
      () => edit(author, candidateId, merge, found),
      ({ record }, fileId) => namesFile(record, fileId),
    );
  }

  /** Makes one change, as CandidateStore.change does, and tells whether it changed anything. */
  async function edit(author: Author, id: string, make: Edit, known?: CandidateRecord): Promise<Put> {
    let outcome: Outcome = "unchanged";
    const noted: Edit = (before, now) => {
      const after = make(before, now);
      outcome = after === before ? "unchanged" : "updated";
      return after;
    };
    return { record: await store.change(author, id, noted, known), outcome };
  }

  async function create(key: CandidateKey & Author, given: CandidateInput, newId: NewId): Promise<CandidateRecord> {
    const owner = { accountId: key.accountId, candidateId: key.id };
    let created: Draft;
    try {
      created = await draft(key, given, newId, (file) => content.store(file, owner));
    } catch (error) {
      // A retry may be refused only because a day has passed since an interrupted attempt of this request created the
      // candidate: an expires_on was not past then.
      const isRefused = error instanceof Problem && error.code === "invalid_transition";
      const earlier = isRefused ? await store.reader.find(key.accountId, key.id) : null;
      if (earlier === null) throw error;
      return alive(earlier);
    }
    // If an interrupted attempt already created the candidate, this retry uploaded its files a second time. `settle`
    // removes the duplicates.
    return content.settle(filesOf(created.documents), () => store.insert(created, key), namesFile);
  }

  /** Does what `put` does, but writes nothing. The ids of what is new are examples. */
  async function rehearse(author: Author, given: CandidateInput, newId: NewId, onConflict?: OnConflict) {
    const { accountId, by } = author;
    const dryRun = (outcome: Outcome, record: CandidateRecord): DryRun => {
      return { object: "dry_run", valid: true, outcome, would_create: renderCandidate(record) };
    };
    const found = onConflict && (await namesake(accountId, given));
    if (!found) {
      const created = await draft({ accountId, id: newId("cand") }, given, newId);
      return dryRun("created", await store.rehearse(created, author));
    }
    const now = clock.now();
    const to = { ids: partIds(given, newId), now: timestamp(now) };
    const after = onConflict === "skip" ? found : merged(found, given, to);
    if (after === found) return dryRun("unchanged", found);
    return dryRun("updated", store.dated(nextRecord(found, after, by, { at: now, now }, () => found.outreach)));
  }

  async function read(accountId: string, id: string): Promise<Candidate> {
    return renderCandidate(await store.reader.get(accountId, id));
  }

  /**
   * Reads what changed of a candidate, the newest first. A cursor is the number of the oldest entry that was read, from 1. One round
   * trip; one more for entries that have left the record.
   */
  async function history(accountId: string, id: string, { limit, cursor }: HistoryQuery): Promise<History> {
    const record = await store.reader.get(accountId, id);
    const end = Math.min(Number(cursor || Infinity) - 1, record.history.count);
    const begin = Math.max(end - limit, 0);
    const data = (await store.history.entries(record, begin, end)).toReversed();
    return { object: "list", data, has_more: begin > 0, cursor: begin > 0 ? String(begin + 1) : null };
  }

  async function start(author: Author, id: string, precondition: Precondition): Promise<Candidate> {
    // If-Match is ignored if the candidate is already started: a retry after a lost response must succeed.
    const record = await store.change(author, id, (before, now) => {
      if (before.started_at === null || before.withdrawn) precondition(() => [taggedCandidate(before)]);
      return started(before, now);
    });
    return renderCandidate(record);
  }

  /** Makes one change. @param edit as in CandidateStore.change. */
  async function change(author: Author, id: string, precondition: Precondition, edit: Edit): Promise<Candidate> {
    const record = await store.change(author, id, (before, now) => {
      precondition(() => [taggedCandidate(before)]);
      return edit(before, now);
    });
    return renderCandidate(record);
  }

  /**
   * Returns a page of the change feed, and its strong entity tag.
   * @param clientHas tells whether the client has the page with this entity tag (If-None-Match). The page is then empty: the
   * client gets a 304.
   */
  async function list(accountId: string, { limit, ...given }: ListQuery, clientHas?: (tag: string) => boolean) {
    const { cursor, state, external_id, updated_since, q } = given;
    if (q !== undefined) {
      const found = { accountId, after: "", words: searchedWords(q, given), limit: Math.min(limit, MAX_FOUND) };
      const { rows } = await store.reader.feed(found);
      return renderPage({ rows, more: false }, "");
    }
    const from = cursor ? decodeCursor(cursor) : cursorAt(updated_since, feedLagMs);
    // The lag allows for clock skew, and for processes of an earlier version, which make no checkpoints.
    const completeUntil = Math.min(store.feedClock.now() - feedLagMs, checkpoints.completeUntil());
    const query = { accountId, after: from.after, state, external_id, limit: Math.min(limit, MAX_PAGE_ROWS) };
    const cursorAfter = (page: FeedPage<FeedEntry>) => encodeCursor(advance(from, page, completeUntil));
    if (clientHas !== undefined) {
      const positions = await store.reader.positions(query);
      const tag = pageTag(positions, cursorAfter(positions));
      if (clientHas(tag)) return { body: Buffer.alloc(0), tag };
    }
    const page = await store.reader.feed(query);
    return renderPage(page, cursorAfter(page));
  }

  /** Builds a new candidate. If it fails, removes the files that it has stored. By default it stores none. */
  async function draft(
    { accountId, id }: CandidateKey,
    given: CandidateInput,
    newId: NewId,
    storeFile: (file: IncomingFile) => Promise<StoredFile> = rehearsedFile,
  ): Promise<Draft> {
    const situation = { started: false, now: timestamp(clock.now()) };
    const all = documentsOf(given);
    for (const [n, each] of all.entries()) checkNewDocument(each, { ...situation, at: `/documents/${n}` });
    const documents: DocumentRecord[] = [];
    try {
      for (const [n, each] of all.entries()) {
        const content = each.content ? await storeFile(inlineFile(each.content)) : undefined;
        documents.push(newDocument(each, { id: newId("doc"), content, ...situation, at: `/documents/${n}` }));
      }
      return newDraft(given, { id, accountId, documents, newId, now: situation.now });
    } catch (error) {
      await content.discard(filesOf(documents).filter((id) => id !== "")); // a dry run has stored none
      throw error;
    }
  }

  return { idOf, put, edit, rehearse, read, history, start, change, list, draft };
}
