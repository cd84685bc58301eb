import { createHash, randomBytes } from "node:crypto";
import type { Candidate } from "../../../src/candidates/schema.ts";
import type { LoadClient } from "../../support/load.ts";
import { Lanes } from "../replicas/lanes.ts";
import type { Tally } from "../tally.ts";

const DOCUMENTS = 2;
const REFERENCES = 2;
/** More than one GridFS chunk, so that a file can be stored in part. */
const CONTENT_BYTES = 300 * 1024;

/** A candidate that a writer tried to create, and what was acknowledged of it. */
interface Attempt {
  /** The id from the response to its create, if that was acknowledged. */
  id: string | undefined;
  /** The number of its last acknowledged PATCH. */
  step: number;
  /** Has no content and no references. The store writes those first, so the create of a bare candidate is a single write. */
  readonly bare: boolean;
}

/**
 * A load that reveals lost and partial writes. Writers create candidates with documents, half of them with content and
 * references, and PATCH them. A candidate is whole if two fields that are always written together are equal, all its parts
 * exist, and its documents' content has the recorded hash.
 */
export class Pipeline {
  readonly #load: LoadClient;
  readonly #key: string;
  readonly #tally: Tally;
  readonly #attempts = new Map<string, Attempt>();
  readonly #content = randomBytes(CONTENT_BYTES);
  readonly #sha256 = hashOf(this.#content);

  constructor(load: LoadClient, key: string, tally: Tally) {
    this.#load = load;
    this.#key = key;
    this.#tally = tally;
  }

  /** Starts the load. Every fifth write is a create, and the others PATCH the created candidate. */
  write(lanes: number): Lanes {
    return new Lanes(lanes, async (lane, turn) => {
      const name = `${lane}-${Math.floor(turn / 5)}`;
      if (turn % 5 === 0) await this.#create(name, lane % 2 === 1);
      else await this.#patch(name, turn % 5);
    });
  }

  async #create(name: string, bare: boolean): Promise<void> {
    const attempt: Attempt = { id: undefined, step: 0, bare };
    this.#attempts.set(name, attempt);
    const content = { filename: "cv.pdf", content_type: "application/pdf", data: this.#content.toString("base64") };
    const documents = [
      { name: "CV", ...(!bare && { content }) },
      ...Array.from({ length: DOCUMENTS - 1 }, () => "Passport"),
    ];
    const references = Array.from({ length: bare ? 0 : REFERENCES }, (_, n) => ({
      name: `Reference ${n}`,
      metadata: { of: name },
    }));
    const body = JSON.stringify({ external_id: name, name: "0", job_title: "0", documents, references });
    const { response } = await this.#tally.send(this.#load, {
      method: "POST",
      path: "/candidates",
      key: this.#key,
      body,
    });
    if (response?.status === 201) attempt.id = (JSON.parse(response.body) as Candidate).id;
  }

  async #patch(name: string, step: number): Promise<void> {
    const attempt = this.#attempts.get(name);
    if (attempt?.id === undefined) return;
    const body = JSON.stringify({ name: String(step), job_title: String(step) });
    const { response } = await this.#tally.send(this.#load, {
      method: "PATCH",
      path: `/candidates/${attempt.id}`,
      key: this.#key,
      body,
    });
    if (response?.status === 200) attempt.step = step;
  }

  /** Returns true if a row mixes two writes, or lacks a part that its create contained. */
  isTorn({ external_id, name, job_title, documents, references }: Candidate): boolean {
    return (
      name !== job_title ||
      documents.length !== DOCUMENTS ||
      references.length !== (this.#isBare(external_id) ? 0 : REFERENCES)
    );
  }

  #isBare(name: string | null): boolean {
    return this.#attempts.get(name ?? "")?.bare ?? false;
  }

  /** Returns the number of candidates whose acknowledged create or last acknowledged PATCH is not in the store. */
  lostFrom(store: Map<string, Candidate>): number {
    const acknowledged = [...this.#attempts.values()].filter(({ id }) => id !== undefined);
    return acknowledged.filter(({ id = "", step }) => !(Number(store.get(id)?.name) >= step)).length;
  }

  /** Describes every partial write in the store. */
  async partialWritesIn(store: Map<string, Candidate>, url: string): Promise<string[]> {
    const faults: string[] = [];
    for (const row of store.values()) {
      const { id, external_id, documents, references } = row;
      if (this.isTorn(row)) faults.push(`${id}: a part is missing, or two fields are from different writes`);
      if (references.some(({ metadata }) => metadata.of !== external_id))
        faults.push(`${id}: it has a reference of another candidate`);
      for (const { content, id: document, name: title } of documents) {
        if (content === null) {
          if (title === "CV" && !this.#isBare(external_id)) faults.push(`${id}: content is missing`);
          continue;
        }
        const response = await fetch(`${url}/candidates/${id}/documents/${document}/content`, {
          headers: { Authorization: `Bearer ${this.#key}` },
        });
        const bytes = new Uint8Array(await response.arrayBuffer());
        if (!response.ok)
          faults.push(`${id}: its content is not read: ${response.status} ${Buffer.from(bytes).toString()}`);
        else if (content.sha256 !== this.#sha256 || hashOf(bytes) !== this.#sha256)
          faults.push(`${id}: content does not have the expected hash`);
      }
      for (const { id: reference } of references) {
        const response = await this.#load.send({
          method: "PATCH",
          path: `/references/${reference}`,
          key: this.#key,
          body: "{}",
        });
        if (response.status !== 200) faults.push(`${id}: a reference is not found by its id`);
      }
    }
    return faults;
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
