import { setTimeout } from "node:timers/promises";
import type { Candidate } from "../../../src/candidates/schema.ts";
import type { LoadClient } from "../../support/load.ts";
import { Lanes } from "./lanes.ts";

/** Pause between two reads. Without it, a mirror uses up its key's limit for lists within seconds. */
const POLL_EVERY_MS = 100;

/** Mirrors an account's candidates from the feed alone, as a client would: it keeps a cursor and stores whole rows. */
export class Mirror {
  readonly candidates = new Map<string, Candidate>();
  readonly #load: LoadClient;
  readonly #key: string;
  readonly #onRow: (row: Candidate) => void;
  #cursor = "";
  /** The error or the response in place of the last page that could not be read. */
  lastFault = "";

  /** @param onRow is called with each row as it arrives. */
  constructor(load: LoadClient, key: string, onRow: (row: Candidate) => void = () => undefined) {
    this.#load = load;
    this.#key = key;
    this.#onRow = onRow;
  }

  /**
   * Reads to the current end of the feed. @returns false if a page could not be read; the next call continues from the same
   * cursor.
   */
  async catchUp(): Promise<boolean> {
    for (;;) {
      const page = await this.#page();
      if (page === undefined) return false;
      for (const candidate of page.data) {
        this.#onRow(candidate);
        this.candidates.set(candidate.id, candidate);
      }
      this.#cursor = page.cursor;
      if (!page.has_more) return true;
    }
  }

  /** Catches up every 100 ms until the lanes are ended. @param onFault is called after each turn that could not read a page. */
  follow(onFault: () => void = () => undefined): Lanes {
    return new Lanes(1, async () => {
      if (!(await this.catchUp())) onFault();
      await setTimeout(POLL_EVERY_MS);
    });
  }

  async #page(): Promise<{ data: Candidate[]; has_more: boolean; cursor: string } | undefined> {
    const path = `/candidates?limit=100${this.#cursor === "" ? "" : `&cursor=${this.#cursor}`}`;
    const response = await this.#load.send({ method: "GET", path, key: this.#key }).catch((error: Error) => error);
    if (response instanceof Error || response.status !== 200) {
      this.lastFault = response instanceof Error ? response.message : response.body;
      return undefined;
    }
    return JSON.parse(response.body) as { data: Candidate[]; has_more: boolean; cursor: string };
  }
}

/** Time limit for reading the whole feed: a busy test machine may not return every page in time. */
const READ_WITHIN_MS = 10_000;

/** Reads all candidates from the start of the feed. @throws if it cannot read them within 10 s. */
export async function everyCandidate(load: LoadClient, key: string): Promise<Map<string, Candidate>> {
  const mirror = new Mirror(load, key);
  for (const deadline = performance.now() + READ_WITHIN_MS; !(await mirror.catchUp());) {
    if (performance.now() > deadline) throw new Error(`The feed could not be read within 10 s: ${mirror.lastFault}`);
    await setTimeout(POLL_EVERY_MS);
  }
  return mirror.candidates;
}

/** Returns the candidates whose last change has not reached the mirror after 5 s: a fault may delay a change that long. */
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
