import { GuessGuard } from "../accounts/guard.ts";
import { hashOfAddress } from "../candidates/address.ts";
import { optedOut } from "../candidates/chase-edits.ts";
import { type CandidateRecord, type ReferenceRecord, TO_CANDIDATE } from "../candidates/record.ts";
import { MAX_RESPONSE_BYTES, patchedReference } from "../candidates/reference-edits.ts";
import type { CandidateStore } from "../candidates/store.ts";
import { isTombstone } from "../candidates/tombstone.ts";
import { hashOfToken, type Link, type LinkStore } from "../outreach/link-store.ts";
import { nameOf } from "../outreach/message.ts";
import type { RulesReader } from "../outreach/rules.ts";
import { wordsOf } from "../outreach/wording/language.ts";
import type { Words } from "../outreach/wording/words.ts";
import { problem } from "../problems.ts";

export interface Visit {
  readonly link: Link;
  readonly record: CandidateRecord;
  /** The reference that the link is about. Undefined if it is the candidate's link. */
  readonly reference: ReferenceRecord | undefined;
  readonly words: Words;
  readonly sender: string;
  /** The candidate's name. Null if it is not known. */
  readonly person: string | null;
  readonly instructions: string | null;
  readonly questions: readonly string[];
}

interface Dependencies {
  readonly store: CandidateStore;
  readonly links: Pick<LinkStore, "find" | "existing">;
  readonly rules: Pick<RulesReader, "fresh">;
}

const OPEN_TO_REFEREE = new Set<ReferenceRecord["state"]>(["requested", "bounced", "unresponsive"]);

export class Visits {
  readonly #dependencies: Dependencies;
  readonly #guard: GuessGuard;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    const existingSecrets = (hashes: readonly string[]) => dependencies.links.existing(hashes);
    this.#guard = new GuessGuard({ store: { existingSecrets }, failedGuess: "not_found" });
  }

  /**
   * Opens a link. Changes nothing. Three round trips.
   * @param address of the client: it may open few wrong links.
   * @throws problems not_found, rate_limited (scope `address`), store_unavailable.
   */
  async open(token: string, kind: "candidate" | "referee", address: string): Promise<Visit> {
    const { links, rules, store } = this.#dependencies;
    const hash = hashOfToken(token) ?? "";
    const link = await this.#guard.attempt({ address, hash }, async () => (await links.find(hash)) ?? noLink());
    const [record, { assistant, name }] = await Promise.all([
      store.reader.find(link.accountId, link.id),
      rules.fresh(link.accountId),
    ]);
    if (record === null || isTombstone(record)) return noLink();
    const reference = record.references.find(({ id }) => id === link.to);
    if (kind === "candidate" ? link.to !== TO_CANDIDATE : reference === undefined) return noLink();
    const words = wordsOf(assistant.language);
    return {
      link,
      record,
      reference,
      words,
      sender: assistant.display_name ?? name,
      person: nameOf(record),
      instructions: assistant.instructions,
      questions: assistant.reference_questions ?? words.pages.reference.questions,
    };
  }

  /** Stops messages to the address that the link was sent to. One round trip or two. @throws problem store_unavailable */
  async stop({ link }: Visit): Promise<void> {
    await this.#dependencies.store.change(link.accountId, link.id, (before) => optedOut(before, link.address));
  }

  /** Records that the referee gives no reference. @throws problems invalid_transition, store_unavailable. */
  decline(visit: Visit): Promise<void> {
    return this.#settle(visit, { state: "declined" });
  }

  /**
   * Records the referee's answers.
   * @throws problems invalid_transition, store_unavailable. Call `excessOf` first.
   */
  answer(visit: Visit, response: RefereeResponse): Promise<void> {
    return this.#settle(visit, { state: "received", response: { ...response } });
  }

  async #settle({ link }: Visit, patch: Parameters<typeof patchedReference>[1]): Promise<void> {
    await this.#dependencies.store.change(link.accountId, link.id, (before, now) => {
      const reference = before.references.find(({ id }) => id === link.to);
      if (reference === undefined || !isOpen({ link, record: before, reference })) throw notNeeded();
      const settled = patchedReference({ ...reference, response: null }, patch, { started: true, now });
      return { ...before, references: before.references.map((other) => (other === reference ? settled : other)) };
    });
  }
}

export interface RefereeResponse {
  readonly answers: readonly { readonly question: string; readonly answer: string }[];
}

/** Returns by how many bytes the answers are too large together; 0 if they are not. */
export function excessOf(response: RefereeResponse): number {
  return Math.max(0, Buffer.byteLength(JSON.stringify(response)) - MAX_RESPONSE_BYTES);
}

/**
 * Returns whether the visitor still has something to do. Whoever got the link at an address that is no longer the
 * recipient's has not: it may have been a mistake.
 */
export function isOpen(visit: Pick<Visit, "link" | "record" | "reference">): boolean {
  const { link, record, reference } = visit;
  if (record.withdrawn || record.started_at === null || hasStopped(visit)) return false;
  const { email } = reference ?? record;
  if (email === null || hashOfAddress(email) !== link.address) return false;
  return reference === undefined ? record.state !== "completed" : OPEN_TO_REFEREE.has(reference.state);
}

export function hasStopped({ link, record }: Pick<Visit, "link" | "record">): boolean {
  return record.outreach.opted_out.includes(link.address);
}

function noLink(): never {
  throw problem("not_found", "There is no such link.");
}

export function notNeeded() {
  return problem("invalid_transition", "This is no longer needed.");
}
