import { invalid, problem } from "../problems.ts";
import { filesOf, withDeletion } from "./erasure.ts";
import { isDecided } from "./history.ts";
import type { CandidateRecord, Deleter, Deletion } from "./record.ts";
import { MAX_DOCUMENTS, MAX_REFERENCES } from "./schema.ts";
import { withoutRefereesLabels } from "./unreadable.ts";

/** Pure edits of the documents and the references of a candidate. CandidateStore.change runs them. */

type Kind = "documents" | "references";
type Part<K extends Kind> = CandidateRecord[K][number];

const MAX = { documents: MAX_DOCUMENTS, references: MAX_REFERENCES };

/** Deleted parts are remembered this long, in milliseconds: longer than an Idempotency-Key is valid. */
const REMEMBERED_MS = 25 * 60 * 60 * 1000;

/** @throws problem too_many_documents or too_many_references */
export function withPart<K extends Kind>(record: CandidateRecord, kind: K, part: Part<K>): CandidateRecord {
  if (record[kind].length >= MAX[kind]) {
    const detail = `A candidate has at most ${MAX[kind]} ${kind}. Change or delete one of those that are there.`;
    throw problem(`too_many_${kind}`, detail);
  }
  return { ...record, [kind]: [...record[kind], part] };
}

/** Puts `after` in the place of `before`. Returns the same record if they are the same object. */
export function withChanged<K extends Kind>(record: CandidateRecord, kind: K, before: Part<K>, after: Part<K>) {
  if (after === before) return record;
  return { ...record, [kind]: record[kind].map((each) => (each === before ? after : each)) };
}

/**
 * Notes who decided on the client's side.
 * @param before, part: the part before and after the edit.
 * @throws problem validation_failed if nothing is decided.
 */
export function withDecider<P extends Part<Kind>>(record: CandidateRecord, before: P, part: P, given?: string | null) {
  if (given === undefined) return record;
  const { id, state } = part;
  const must = "must be sent with a state that decides, for example accepted";
  if (!isDecided(state) && given !== null) throw invalid("/decided_by", must);
  const known = record.decisions[id];
  const isSame = before.state === state && known?.state === state && known.decided_by === given;
  return isSame || !isDecided(state) ? record : { ...record, stated: { id, decided_by: given } };
}

/** Takes a part out of the candidate, and notes what is still to be removed of it. */
export function withoutPart(record: CandidateRecord, kind: Kind, id: string, by: Deleter): CandidateRecord {
  const deletion: Deletion = { kind, id, ...by };
  const files = filesOf(record.documents.filter((document) => document.id === id));
  const references = kind === "references" ? [id] : [];
  const metadata = kind === "documents" ? record.metadata : withoutRefereesLabels(record.metadata);
  const recent = record.removed.filter(({ at }) => Date.parse(at) > Date.parse(by.at) - REMEMBERED_MS);
  return {
    ...record,
    metadata,
    [kind]: record[kind].filter((each) => each.id !== id),
    removed: [...recent, { id, at: by.at }],
    erasure: withDeletion(record.erasure, deletion, { files, references }),
  };
}

/** Refuses to add a part again that was deleted: only a late retry of its POST has its id. @throws problem not_found */
export function checkNotRemoved({ removed }: CandidateRecord, id: string): void {
  if (removed.some((each) => each.id === id)) {
    const detail = `This request has already added ${id}, which was deleted since. To add it again, use a new Idempotency-Key.`;
    throw problem("not_found", detail);
  }
}
