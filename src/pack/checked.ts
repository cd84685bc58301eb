import { createHash } from "node:crypto";
import { addAbortSignal, Readable } from "node:stream";
import type { ContentRecord } from "../candidates/record.ts";
import { Problem } from "../problems.ts";

/** A document's content that is checked while it is read. */
export interface CheckedContent {
  /** The whole content. Ends early if the rest cannot be read; null if none can: every content has at least one byte. */
  readonly bytes: Readable | null;
  /** Says in a sentence what is wrong with the content, or null. Known once the content has been read to its end. */
  readonly fault: () => string | null;
}

/** Reads the first chunk of a content. Checks all of it against the size and SHA-256 recorded at its upload. */
export async function checked(source: Readable, content: ContentRecord, signal: AbortSignal): Promise<CheckedContent> {
  let fault: string | null = null;
  const chunks = check(addAbortSignal(signal, source));
  let first: IteratorResult<Uint8Array> | undefined = await chunks.next();
  return { bytes: first.done ? null : Readable.from(all()), fault: () => fault };

  async function* all(): AsyncGenerator<Uint8Array> {
    const begun = first;
    first = undefined; // the ZIP keeps every entry until its end: release the chunk
    if (begun?.done === false) yield begun.value;
    yield* chunks;
  }

  async function* check(read: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const hash = createHash("sha256");
    let size = 0;
    try {
      for await (const chunk of read) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    } catch (error) {
      // The reader is gone, or the store does not answer. Neither is a fault of the content.
      if (signal.aborted || (error instanceof Problem && error.code === "store_unavailable")) throw error;
      fault = `Of the content's ${content.size} bytes only the first ${size} could be read.`;
      return;
    }
    if (size !== content.size) fault = `The content has ${size} bytes, not ${content.size} as at its upload.`;
    else if (hash.digest("hex") !== content.sha256)
      fault = "The content is not what was uploaded: its SHA-256 differs.";
  }
}
