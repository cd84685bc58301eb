import { createHash } from "node:crypto";
import { addAbortSignal, Readable } from "node:stream";
import type { ContentRecord } from "../candidates/record.ts";
import { Problem } from "../problems.ts";

/** Bytes that are compared, while they are read, with what was kept of them at their upload. */
export class Checked {
  readonly #chunks: AsyncGenerator<Uint8Array>;
  readonly #content: ContentRecord;
  readonly #signal: AbortSignal;
  #first: IteratorResult<Uint8Array> | undefined;
  #fault: string | null = null;

  constructor(source: Readable, content: ContentRecord, signal: AbortSignal) {
    this.#content = content;
    this.#signal = signal;
    this.#chunks = this.#check(addAbortSignal(signal, source));
  }

  /** What is wrong with them, in a sentence; known once they have been read to their end. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Reads the first of them: false where there are none to read. @throws problem store_unavailable */
  async begin(): Promise<boolean> {
    this.#first = await this.#chunks.next();
    return !this.#first.done || this.#fault === null;
  }

  /** Them all, once, after `begin`. It ends early where the rest cannot be read. */
  rest(): Readable {
    return Readable.from(this.#rest(), { objectMode: false });
  }

  async *#rest(): AsyncGenerator<Uint8Array> {
    const first = this.#first;
    this.#first = undefined; // the ZIP keeps hold of its entries to the end: they must keep hold of no bytes
    if (first !== undefined && !first.done) yield first.value;
    yield* this.#chunks;
  }

  async *#check(source: Readable): AsyncGenerator<Uint8Array> {
    const hash = createHash("sha256");
    let size = 0;
    try {
      for await (const chunk of source as AsyncIterable<Uint8Array>) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    } catch (error) {
      // Nobody reads any more, or the store is out of reach: neither says anything about the bytes.
      if (this.#signal.aborted || (error instanceof Problem && error.code === "store_unavailable")) throw error;
      this.#fault = `Of the content's ${this.#content.size} bytes only the first ${size} could be read.`;
      return;
    }
    if (size !== this.#content.size)
      this.#fault = `The content has ${size} bytes, not ${this.#content.size} as at its upload.`;
    else if (hash.digest("hex") !== this.#content.sha256)
      this.#fault = "The content is not what was uploaded: its SHA-256 differs.";
  }
}
