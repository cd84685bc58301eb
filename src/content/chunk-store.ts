import { Binary, type Collection, ObjectId } from "mongodb";
import type { Mongo } from "../infra/mongo.ts";
import type { ByteRange } from "./file.ts";

/** GridFS's default. `read` computes with it, so it must never change. */
export const CHUNK_BYTES = 255 * 1024;
/** Maximum chunks in one round trip: 2 MiB. */
const MAX_BATCH = 8;
/** While all files together hold more than this in memory, each round trip has one chunk. In bytes. */
const PLENTY = 32 * 1024 * 1024;

interface Chunk {
  _id: ObjectId;
  files_id: ObjectId;
  n: number;
  data: Binary;
}

/** Chunks that MongoDB was asked for: those before number `until`. */
interface Batch {
  readonly until: number;
  readonly found: Promise<Chunk[]>;
  /** Must be called once they are no longer in memory. */
  readonly release: () => void;
}

/**
 * Writes and reads the chunks of files, several in one round trip: one, one, two, four, then eight at a time. So a small
 * file, or one whose client is slow at first, holds one or two chunks in memory.
 */
export class ChunkStore {
  readonly #mongo: Mongo;
  readonly #chunks: Collection<Chunk>;
  /** Bytes in memory or on their way from MongoDB, of all uploads and downloads. */
  #held = 0;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#chunks = mongo.db.collection("content.chunks");
  }

  writer(files_id: ObjectId): ChunkWriter {
    return new ChunkWriter({
      insert: (first, data) => this.#insert(files_id, first, data),
      batch: (before) => this.#batch(before),
      hold: (bytes) => (this.#held += bytes),
    });
  }

  async #insert(files_id: ObjectId, first: number, data: readonly Uint8Array[]): Promise<void> {
    const chunks = data.map((each, i) => ({ _id: new ObjectId(), files_id, n: first + i, data: new Binary(each) }));
    await this.#mongo.bounded("insert content.chunks", (limits) => this.#chunks.insertMany(chunks, limits));
  }

  /**
   * Reads bytes of a file as they are asked for. While one batch is sent, MongoDB is asked for the next one, unless all
   * files together hold more than `PLENTY`. No cursor stays open, however slow the reader is.
   * @throws problem store_unavailable; {Error} if a chunk is missing or too short.
   */
  async *read(files_id: ObjectId, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
    const first = Math.floor(start / CHUNK_BYTES);
    const last = Math.ceil(end / CHUNK_BYTES);
    let ahead: Batch | undefined;
    try {
      for (let n = first; n < last;) {
        const batch: Batch = ahead ?? this.#fetch(files_id, n, Math.min(n + this.#batch(n - first), last));
        ahead = undefined;
        try {
          const found = await batch.found;
          const { until } = batch;
          if (until < last && this.#held <= PLENTY)
            ahead = this.#fetch(files_id, until, Math.min(until + this.#batch(until - first), last));
          for (; n < until; n++) {
            const offset = n * CHUNK_BYTES;
            const data = found.shift();
            if (data?.n !== n) throw new Error("A chunk of a document's content is missing.");
            const wanted = Math.min(end - offset, CHUNK_BYTES);
            if (data.data.length() < wanted) throw new Error("A chunk of a document's content is too short.");
            yield data.data.value().subarray(Math.max(start - offset, 0), wanted);
          }
        } finally {
          batch.release();
        }
      }
    } finally {
      // The reader has left, or a batch failed. Chunks that were asked for count until they have arrived.
      ahead?.found.then(ahead.release, ahead.release);
    }
  }

  /** Asks MongoDB for chunks. They count from now on: a download that waits for them needs their memory soon. */
  #fetch(files_id: ObjectId, n: number, until: number): Batch {
    const bytes = (until - n) * CHUNK_BYTES;
    this.#held += bytes;
    const found = this.#find(files_id, n, until);
    found.catch(() => undefined); // `read` reports it when it needs these chunks
    return { until, found, release: () => void (this.#held -= bytes) };
  }

  #find(files_id: ObjectId, first: number, until: number): Promise<Chunk[]> {
    const count = until - first;
    return this.#mongo.bounded("find content.chunks", (limits) =>
      this.#chunks
        .find({ files_id, n: { $gte: first, $lt: until } }, { ...limits, limit: count, batchSize: count + 1 })
        .sort({ n: 1 })
        .toArray(),
    );
  }

  /** Returns how many chunks the next round trip has, after this many chunks of the file. */
  #batch(before: number): number {
    return this.#held > PLENTY ? 1 : Math.min(Math.max(before, 1), MAX_BATCH);
  }

  async remove(files_id: ObjectId, limits: object): Promise<void> {
    await this.#chunks.deleteMany({ files_id }, limits);
  }
}

interface ChunkWriterOptions {
  insert: (first: number, data: readonly Uint8Array[]) => Promise<void>;
  batch: (before: number) => number;
  /** Counts bytes in memory: more, or fewer if negative. */
  hold: (bytes: number) => void;
}

/** Cuts bytes into chunks and writes them. While one batch is written, the next one is collected. */
export class ChunkWriter {
  readonly #options: ChunkWriterOptions;
  /** The chunk that is not complete, and how many bytes it has so far. */
  #partial: Buffer | undefined;
  #length = 0;
  /** Complete chunks that are not being written. */
  #chunks: Uint8Array[] = [];
  /** Chunks that were written or are being written. */
  #sent = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ChunkWriterOptions) {
    this.#options = options;
  }

  /** Takes bytes. Waits if a batch is complete and the one before it is still being written. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + CHUNK_BYTES - this.#length);
      at += part.length;
      // A copy, so that a client that sends single bytes does not make one buffer of each.
      this.#partial ??= this.#allocate();
      this.#partial.set(part, this.#length);
      this.#length += part.length;
      if (this.#length === CHUNK_BYTES) this.#complete(this.#partial);
      if (this.#chunks.length >= this.#options.batch(this.#sent)) await this.#send();
    }
  }

  #allocate(): Buffer {
    this.#options.hold(CHUNK_BYTES);
    return Buffer.allocUnsafe(CHUNK_BYTES);
  }

  #complete(chunk: Buffer): void {
    this.#chunks.push(chunk.subarray(0, this.#length));
    this.#partial = undefined;
    this.#length = 0;
  }

  async #send(): Promise<void> {
    await this.#writing;
    const chunks = this.#chunks;
    this.#writing = this.#options.insert(this.#sent, chunks).finally(() => this.#release(chunks.length));
    this.#writing.catch(() => undefined); // the next call reports it
    this.#sent += chunks.length;
    this.#chunks = [];
  }

  /** Writes what is left, and waits until all is written. */
  async end(): Promise<void> {
    if (this.#partial !== undefined) this.#complete(this.#partial);
    if (this.#chunks.length > 0) await this.#send();
    await this.#writing;
  }

  /** Ends the upload early. Waits until nothing is being written any more. Returns the error of the last write, if it failed. */
  async stop(): Promise<unknown> {
    this.#release(this.#chunks.splice(0).length + (this.#partial === undefined ? 0 : 1));
    this.#partial = undefined;
    this.#length = 0;
    return this.#writing.then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  #release(chunks: number): void {
    this.#options.hold(-chunks * CHUNK_BYTES);
  }
}
