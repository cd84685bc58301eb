import { createHash } from "node:crypto";
import { addAbortSignal, Readable } from "node:stream";
import type { ContentRecord } from "../candidates/record.ts";
import { Problem } from "../problems.ts";

/** A document's content that is checked while it is read, against the size and SHA-256 recorded at its upload. */
export class CheckedContent {
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

  /** Says in a sentence what is wrong with the content, or null. Known once the content has been read to its end. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Reads the first chunk. Returns false if none of the content can be read: every content has at least one byte. */
  async begin(): Promise<boolean> {
    this.#first = await this.#chunks.next();
    return !this.#first.done;
  }

  /** Streams the whole content. Call it once, after `begin`. The stream ends early if the rest cannot be read. */
  rest(): Readable {
    return Readable.from(this.#rest());
  }

  async *#rest(): AsyncGenerator<Uint8Array> {
    const first = this.#first;
    this.#first = undefined; // the ZIP keeps every entry until its end: release the chunk
    if (first?.done === false) yield first.value;
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
      // The reader is gone, or the store does not answer. Neither is a fault of the content.
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
