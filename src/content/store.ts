import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { type Binary, type Collection, GridFSBucket, type GridFSBucketWriteStream, type GridFSFile, ObjectId } from "mongodb";
import type { CandidateRecord } from "../candidates/record.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { Clock } from "../infra/clock.ts";
import { type Mongo, within } from "../infra/mongo.ts";
import { Relief } from "../infra/relief.ts";
import { Problem, problem } from "../problems.ts";
import { type FileOwner, type PendingFile, PendingStore } from "./pending-store.ts";

/** Where bytes of no declared type are taken to be of. */
export const UNKNOWN_TYPE = "application/octet-stream";

/** GridFS's own. Files are read by it as well, so it never changes. */
const CHUNK_BYTES = 255 * 1024;

/** A file on its way in: read once, to its end, no faster than it can be written. */
export interface IncomingContent {
  readonly stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly filename: string | null;
  readonly contentType: string | null;
}

/** A file that is written whole. */
export interface StoredContent {
  readonly id: string;
  readonly filename: string | null;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Bytes from `start` up to, not including, `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

interface Chunk {
  files_id: ObjectId;
  n: number;
  data: Binary;
}

/**
 * Documents' bytes, in GridFS. Bytes are written before the record that names them; an entry in PendingStore goes before
 * them and stays until it is settled whether a record does. So a crash at any moment leaves at the most bytes that are on
 * that list, for the sweep: `leftOvers`, `removeLeftOver`.
 */
export class ContentStore {
  readonly #mongo: Mongo;
  readonly #pending: PendingStore;
  readonly #candidates: Pick<CandidateStore, "find">;
  readonly #bucket: GridFSBucket;
  readonly #relief = new Relief();
  readonly #files: Collection<GridFSFile>;
  readonly #chunks: Collection<Chunk>;

  constructor(mongo: Mongo, clock: Clock, candidates: Pick<CandidateStore, "find">) {
    this.#mongo = mongo;
    this.#pending = new PendingStore(mongo, clock);
    this.#candidates = candidates;
    this.#bucket = new GridFSBucket(mongo.db, { bucketName: "content", chunkSizeBytes: CHUNK_BYTES });
    this.#files = mongo.db.collection("content.files");
    this.#chunks = mongo.db.collection("content.chunks");
  }

  /** Makes the indexes; harmless where they are already. */
  prepare(): Promise<void> {
    return this.#pending.prepare();
  }

  /**
   * Writes bytes as they come, holding no more than a chunk of them. They stay only if `settle` comes to name them.
   * @throws problem store_unavailable; what the stream fails with. Nothing is then kept.
   */
  async store({ stream, filename, contentType }: IncomingContent, owner: FileOwner): Promise<StoredContent> {
    const id = new ObjectId();
    const fileId = id.toHexString();
    await this.#pending.arriving(fileId, owner);
    try {
      const written = await this.#write(this.#bucket.openUploadStreamWithId(id, "", { metadata: { account: owner.account } }), stream);
      if (!(await this.#pending.arrived(fileId))) throw problem("request_timeout", "The upload took too long. Try again.");
      return { id: fileId, filename, contentType: contentType ?? UNKNOWN_TYPE, ...written };
    } catch (error) {
      // While the store does not answer, a chunk may still be on its way into it.
      if (!isStoreFault(error)) await this.discard([fileId]);
      throw error;
    }
  }

  async #write(upload: GridFSBucketWriteStream, bytes: IncomingContent["stream"]): Promise<{ size: number; sha256: string }> {
    upload.on("error", () => undefined); // each write's callback tells
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of bytes) {
      hash.update(chunk);
      size += chunk.length;
      await this.#mongo.bounded(() => settled((done) => upload.write(chunk, done)));
      this.#relief.passed(chunk.length);
    }
    await this.#mongo.bounded(() => settled((done) => upload.end(done)));
    return { size, sha256: hash.digest("hex") };
  }

  /**
   * Makes the write that is to name these files, then settles their fate: files that the record written names stay, the
   * others go; all go where the write was refused. What cannot be settled now (the store does not answer, and the write may
   * have been made) is left to the sweep.
   */
  async settle(fileIds: readonly string[], write: () => Promise<CandidateRecord>): Promise<CandidateRecord> {
    let record: CandidateRecord;
    try {
      record = await write();
    } catch (error) {
      if (error instanceof Problem && !isStoreFault(error)) await this.discard(fileIds);
      throw error;
    }
    await Promise.allSettled(fileIds.map((id) => (names(record, id) ? this.#pending.named(id) : this.remove(id))));
    return record;
  }

  /** Notes that a write is about to put another file in this one's place. The sweep takes it away; readers may finish. */
  replaced(fileId: string, owner: FileOwner): Promise<void> {
    return this.#pending.replaced(fileId, owner);
  }

  /** Takes files away that no record names; what fails is left to the sweep. */
  async discard(fileIds: readonly string[]): Promise<void> {
    await Promise.allSettled(fileIds.map((id) => this.remove(id)));
  }

  /** Takes bytes away, then their entry; what is not there any more is no fault. */
  async remove(fileId: string): Promise<void> {
    const id = new ObjectId(fileId);
    await this.#mongo.bounded(async (signal) => {
      // The stand-in for MongoDB fails a delete that finds no file; an upload that was cut off has none.
      const file = await this.#files.findOne({ _id: id }, { signal });
      if (file !== null) await this.#files.deleteOne({ _id: id }, within(signal));
      await this.#chunks.deleteMany({ files_id: id }, within(signal));
    });
    await this.#pending.gone(fileId);
  }

  /**
   * The bytes of a file, read as they are asked for: one chunk, one round trip, so that a slow reader holds nothing open.
   * It fails where the store does not answer or the bytes are not there.
   */
  open(fileId: string, range: ByteRange): Readable {
    return Readable.from(this.#read(new ObjectId(fileId), range), { objectMode: false, highWaterMark: 1 });
  }

  async *#read(files_id: ObjectId, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; ) {
      const n = Math.floor(at / CHUNK_BYTES);
      const chunk = await this.#mongo.bounded((signal) => this.#chunks.findOne({ files_id, n }, { signal }));
      if (chunk === null) throw new Error("A chunk of a document's content is not there.");
      const first = n * CHUNK_BYTES;
      const bytes = chunk.data.value().subarray(at - first, end - first);
      if (bytes.length === 0) throw new Error("A chunk of a document's content is too short.");
      yield bytes;
      at += bytes.length;
      this.#relief.passed(bytes.length);
    }
  }

  /** Up to 100 files whose fate has been open for so long, oldest first. */
  leftOvers(olderThanMs: number): Promise<PendingFile[]> {
    return this.#pending.leftOvers(olderThanMs);
  }

  /** Settles a left-over: bytes that no record names go. @returns whether they went. @throws problem store_unavailable */
  async removeLeftOver(entry: PendingFile): Promise<boolean> {
    const record = await this.#candidates.find(entry.account, entry.candidate);
    if (record !== null && names(record, entry._id)) {
      await this.#pending.forget(entry);
      return false;
    }
    if (!(await this.#pending.condemn(entry))) return false;
    await this.remove(entry._id);
    return true;
  }
}

function names({ documents }: CandidateRecord, fileId: string): boolean {
  return documents.some(({ content }) => content?.file_id === fileId);
}

/** Whether a write that ended so may have been made all the same, or may be yet. */
function isStoreFault(error: unknown): boolean {
  return error instanceof Problem && error.code === "store_unavailable";
}

function settled(start: (done: (error?: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}
