import { setTimeout } from "node:timers/promises";
import type { Candidate } from "../../../src/candidates/schema.ts";
import type { LoadClient } from "../../support/load.ts";

/** Keeps a copy of an account's candidates from the feed alone, as a client would: a cursor, and whole rows. */
export class Mirror {
  readonly candidates = new Map<string, Candidate>();
  readonly #load: LoadClient;
  readonly #key: string;
  readonly #seen: (row: Candidate) => void;
  #cursor = "";
  /** What there was in place of the last page that could not be read. */
  lastFault = "";

  /** @param seen is shown every row as it comes. */
  constructor(load: LoadClient, key: string, seen: (row: Candidate) => void = () => undefined) {
    this.#load = load;
    this.#key = key;
    this.#seen = seen;
  }

  /** Reads on until there is no more for now. Gives up where an answer is none, to go on from the same cursor the next time. */
  async catchUp(): Promise<boolean> {
    for (;;) {
      const page = await this.#page();
      if (page === undefined) return false;
      for (const candidate of page.data) {
        this.#seen(candidate);
        this.candidates.set(candidate.id, candidate);
      }
      this.#cursor = page.cursor;
      if (!page.has_more) return true;
    }
  }

  async #page(): Promise<{ data: Candidate[]; has_more: boolean; cursor: string } | undefined> {
    const path = `/candidates?limit=100${this.#cursor === "" ? "" : `&cursor=${this.#cursor}`}`;
    const answer = await this.#load.send({ method: "GET", path, key: this.#key }).catch((error: Error) => error);
    if (answer instanceof Error || answer.status !== 200) {
      this.lastFault = answer instanceof Error ? answer.message : answer.body;
      return undefined;
    }
    return JSON.parse(answer.body) as { data: Candidate[]; has_more: boolean; cursor: string };
  }
}

/** A busy test machine may fail to answer a page or two in time. */
const READ_WITHIN_MS = 10_000;

/** Everything there is, read afresh. @throws where the feed does not answer for 10 s. */
export async function everyCandidate(load: LoadClient, key: string): Promise<Map<string, Candidate>> {
  const mirror = new Mirror(load, key);
  for (const deadline = performance.now() + READ_WITHIN_MS; !(await mirror.catchUp());) {
    if (performance.now() > deadline) throw new Error(`The feed does not answer: ${mirror.lastFault}`);
  }
  return mirror.candidates;
}

/** Candidates whose last change does not reach the mirror; one that the fault held up is given the time to. */
export async function missedBy(mirror: Mirror, load: LoadClient, key: string): Promise<string[]> {
  for (const deadline = performance.now() + 5_000; ; await setTimeout(200)) {
    await mirror.catchUp();
    const store = await everyCandidate(load, key);
    const missed = [...store.values()]
      .filter(({ id, version }) => mirror.candidates.get(id)?.version !== version)
      .map(({ id }) => id);
    if (missed.length === 0 || performance.now() > deadline) return missed;
  }
}
