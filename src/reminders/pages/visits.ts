import { GuessLimiter } from "../../accounts/guess-limiter.ts";
import { addressesOf, isAskedOfReferee, optedOut } from "../../candidates/outreach.ts";
import { type ReferenceRecord, TO_CANDIDATE } from "../../candidates/record.ts";
import { nameOf } from "../../candidates/states.ts";
import { patchedReference } from "../../candidates/references.ts";
import type { Edit } from "../../candidates/store.ts";
import { DAY_MS, timestamp } from "../../infra/clock.ts";
import { problem } from "../../problems.ts";
import type { Words } from "../languages/en.ts";
import { wordsOf } from "../languages/language.ts";
import { hashOfToken, type Link, pathOf, type StopLink } from "../link-store.ts";
import { withoutGaps } from "../message.ts";
import type { AccountRules } from "../rules.ts";
import type { WritingParts } from "../stores.ts";
import { unlessErased } from "../../candidates/erasure.ts";
import { LinkBudget } from "./link-budget.ts";
import type { CandidateView } from "./view-store.ts";

export type Kind = "candidate" | "referee";
type Opening = Readonly<{ kind: Kind; isForm: boolean }>;

export interface Shown {
  readonly words: Words;
  readonly sender: string;
  /** The sender, and where its replies go. */
  readonly contact: string;
}

/** What the stop link needs. It works after the candidate was erased. */
export interface Stop extends Shown {
  readonly link: StopLink;
  /** True if its owner has stopped the messages. */
  readonly stopped: boolean;
  /** True if its other pages may still work: its candidate was not erased, nor its account suspended. */
  readonly opens: boolean;
}

export interface Visit extends Shown {
  readonly link: Link;
  /** The hash of its token. */
  readonly hash: string;
  readonly expired: boolean;
  /** The path of the link's first page. */
  readonly path: string;
  /** Returns true for the address that the link was sent to. */
  readonly isOwn: (email: string) => boolean;
  readonly suspended: boolean;
  readonly candidate: CandidateView;
  /** The reference that the link is about. Undefined if it is the candidate's link. */
  readonly reference: CandidateView["references"][number] | undefined;
  /** The candidate's name. Null if it is not known. */
  readonly person: string | null;
  readonly instructions: string | null;
  readonly questions: readonly string[];
}

/** Time for which an expired link still takes a form that was open, in milliseconds. */
const GRACE_MS = DAY_MS;

export type Visits = ReturnType<typeof visitsOf>;

/** Opens links, and does what their visitors ask for. Every method may throw problem store_unavailable. */
export function visitsOf({ stores, rules, clock, candidates }: WritingParts) {
  const opened = new LinkBudget();
  /** Separate, so that whoever opens a page too often can still stop the messages. */
  const stops = new LinkBudget();

  const guard = new GuessLimiter({ store: { existingSecrets: stores.links.existing }, failedGuess: "not_found" });

  /**
   * Opens a link. Changes nothing.
   * @param visit `isForm`: whether a form is sent.
   * @param address of the client: it may open few wrong links.
   * @throws problems not_found, rate_limited (scope `link`, or `address` for wrong links).
   */
  async function open(token: string, { kind, isForm }: Opening, address: string): Promise<Visit> {
    const link = await find(token, address, opened);
    const [candidate, account] = await Promise.all([stores.pageView(link, link.to), rules.fresh(link.accountId)]);
    const reference = candidate?.references[0];
    const isOfKind = kind === "candidate" ? link.to === TO_CANDIDATE : reference !== undefined;
    if (candidate === undefined || !isOfKind) return noLink();
    const { assistant, suspended } = account;
    const shown = shownOf(account, link.language);
    const questions = link.language === undefined ? assistant.reference_questions : link.questions;
    const { expires_at } = link;
    return {
      ...shown,
      link,
      hash: hashOfToken(token),
      expired: expires_at !== undefined && clock.now() > Date.parse(expires_at) + (isForm ? GRACE_MS : 0),
      path: pathOf(link.to, token),
      isOwn: (email) => stores.addresses.of(email) === link.address,
      suspended,
      candidate,
      reference,
      person: nameOf(candidate),
      instructions: assistant.instructions && withoutGaps(assistant.instructions),
      questions: questions ?? shown.words.pages.reference.questions,
    };
  }

  /**
   * Opens a stop link. Changes nothing. @throws as `open` does.
   * @param of what the link says of itself (AddressHash.sealed); empty if it was made before links did.
   */
  async function openStop(token: string, { kind, of }: { kind: Kind; of: string }, address: string): Promise<Stop> {
    const sealed = stores.addresses.opened(of);
    const link = await (sealed ? findSealed(token, of, sealed) : find(token, address, stops));
    if (link.to !== undefined && (link.to === TO_CANDIDATE) !== (kind === "candidate")) return noLink();
    const [account, stopped] = await Promise.all([rules.fresh(link.accountId), stores.optOuts.has(link)]);
    return { ...shownOf(account, link.language), link, stopped, opens: link.id !== undefined && !account.suspended };
  }

  /** Finds what a stop link that is certainly ours stops. However many wrong links its client opens, it is not refused. */
  async function findSealed(token: string, of: string, sealed: StopLink): Promise<StopLink> {
    await stops.count(of);
    const link = await stores.links.find(hashOfToken(token));
    return link?.accountId === sealed.accountId && link.address === sealed.address ? link : sealed;
  }

  async function find(token: string, address: string, budget: LinkBudget): Promise<Link> {
    const hash = hashOfToken(token);
    await budget.check(hash);
    const link = await guard.attempt({ address, hash }, async () => (await stores.links.find(hash)) ?? noLink());
    await budget.count(hash);
    return link;
  }

  /** @throws problem rate_limited (scope `link`) if too many forms of the link arrive at once. */
  const receiving = <Result>(token: string, receive: () => Promise<Result>) =>
    opened.during(hashOfToken(token), receive);

  /** Stops the account's messages to the link's address. The account's other candidates note it soon (spreadOptOuts). */
  async function stop({ link, stopped }: Stop): Promise<void> {
    if (stopped) return;
    const now = clock.now();
    const { accountId, id, address } = link;
    const by = { type: "service", id: "opt_outs" } as const; // whoever has the address
    await stores.optOuts.add(link, timestamp(now));
    const isOwn = (email: string) => stores.addresses.of(email) === address;
    const edit: Edit = (before) => optedOut(before, addressesOf(before).filter(isOwn));
    if (id !== undefined) await unlessErased(candidates.change({ accountId, by }, id, edit));
    await stores.budget.optedOut(accountId, now);
  }

  /**
   * Records the referee's answers. The page has checked them: they may be larger than those of a client.
   * @throws problem invalid_transition if they are no longer needed.
   */
  const answer = (visit: Visit, response: ReferenceRecord["response"]) =>
    settle(visit, isOpen, { state: "received", response });

  /** Records that the referee gives no reference. @throws as `answer` does. */
  async function decline(visit: Visit): Promise<void> {
    const { references } = await settle(visit, isOpen, { state: "declined", response: null });
    const declined = references.find(({ id }) => id === visit.link.to);
    if (declined !== undefined) await stores.links.noteDeclined(visit.hash, declined.updated_at);
  }

  /** Undoes `decline`. @throws as `answer` does. */
  const takeBack = (visit: Visit) => settle(visit, mayTakeBack, { state: "requested", response: null });

  function settle(visit: Visit, isAllowed: typeof isOpen, to: Pick<ReferenceRecord, "state" | "response">) {
    const { link } = visit;
    const { state, response } = to;
    const author = { accountId: link.accountId, by: { type: "referee", id: link.to } } as const;
    return candidates.change(author, link.id, (before, now) => {
      const reference = before.references.find(({ id }) => id === link.to);
      if (reference === undefined || !isAllowed({ ...visit, candidate: before, reference })) throw notNeeded();
      const moved = patchedReference({ ...reference, response }, { state }, { started: true, now });
      const settled = { ...moved, requested_at: reference.requested_at }; // a referee who takes a refusal back was asked at that time
      return { ...before, references: before.references.map((other) => (other === reference ? settled : other)) };
    });
  }

  return { open, openStop, receiving, stop, answer, decline, takeBack };
}

type Openness = Pick<Visit, "isOwn" | "link" | "reference" | "suspended"> & {
  readonly candidate: Pick<CandidateView, "email" | "state" | "started_at" | "withdrawn">;
};

/**
 * Returns whether the visitor still has something to do. Whoever got the link at an address that is no longer the
 * recipient's has not: it may have been a mistake.
 */
export function isOpen(visit: Openness): boolean {
  const { candidate, reference } = visit;
  if (!concerns(visit)) return false;
  if (reference === undefined) return candidate.state !== "completed";
  return isAskedOfReferee(reference.state) || reference.state === "unresponsive";
}

/** Returns whether the referee has declined through this link, and nobody has changed the reference since. */
export function mayTakeBack(visit: Openness): boolean {
  const { link, reference } = visit;
  return concerns(visit) && reference?.state === "declined" && reference.updated_at === link.declined_at;
}

/** Returns whether the link is its recipient's, and the candidate and the account go on. */
function concerns({ isOwn, suspended, candidate, reference }: Openness): boolean {
  const { email } = reference ?? candidate;
  return !candidate.withdrawn && candidate.started_at !== null && !suspended && email !== null && isOwn(email);
}

function shownOf({ assistant, sender }: AccountRules, language = assistant.language): Shown {
  const contact = assistant.reply_to === null ? sender : `${sender} (${assistant.reply_to})`;
  return { words: wordsOf(language), sender, contact };
}

function noLink(): never {
  throw problem("not_found", "There is no such link.");
}

export function notNeeded() {
  return problem("invalid_transition", "This is no longer needed.");
}
