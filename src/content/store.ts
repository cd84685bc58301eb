import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { GridFSBucket, type GridFSBucketWriteStream, type GridFSChunk, type GridFSFile, ObjectId } from "mongodb";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Clock } from "../infra/clock.ts";
import type { CollectionIndexes, Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import { Problem, problem } from "../problems.ts";
import { type ByteRange, emptyFile, type IncomingFile, type StoredFile, UNKNOWN_TYPE } from "./file.ts";

/** GridFS's default. Versions before this one read every file by it. */
const CHUNK_BYTES = 255 * 1024;

const MAX_LEFT_OVERS = 100;

/** The candidate that a file belongs to, or is to belong to. */
export type FileOwner = Readonly<{ accountId: string; candidateId: string }>;

/**
 * A file that a record may or may not name. `arriving`: the file is being uploaded, or its record is being written.
 * `replaced`: another file is replacing it. `condemned`: a sweep found that no record names it, and is removing its
 * bytes.
 */
export interface PendingFile {
  readonly _id: string;
  readonly account: string;
  readonly candidate: string;
  /** When a request last worked with the file, in milliseconds since the epoch. */
  readonly created_at: number;
  readonly stage: "arriving" | "replaced" | "condemned";
}

/**
 * The bytes of files, in GridFS. Bytes are written before the record that names them. A pending entry is written before
 * the first byte and stays until it is settled whether a record names the file. So a crash at any moment leaves only
 * bytes that have an entry, and the sweep removes them with `leftOvers` and `removeLeftOver`. What has no other promise
 * may throw problem store_unavailable.
 */
export class ContentStore implements Indexed {
  readonly indexes: readonly CollectionIndexes[] = [
    // The first key spans accounts, because the sweep covers all of them.
    { collection: "content_pending", indexes: [{ key: { created_at: 1 } }, { key: { account: 1, candidate: 1 } }] },
    // GridFS prescribes these. Without them, every read of a chunk would scan the collection.
    { collection: "content.files", indexes: [{ key: { filename: 1, uploadDate: 1 } }] },
    { collection: "content.chunks", indexes: [{ key: { files_id: 1, n: 1 }, unique: true }] },
  ];
  readonly #mongo: Mongo;
  readonly #clock: Clock;
  readonly #pending: BoundedCollection<PendingFile>;
  readonly #bucket: GridFSBucket;
  readonly #files: BoundedCollection<GridFSFile>;
  readonly #chunks: BoundedCollection<GridFSChunk>;

  constructor(mongo: Mongo, clock: Clock) {
    this.#mongo = mongo;
    this.#clock = clock;
    this.#pending = new BoundedCollection(mongo, "content_pending");
    this.#bucket = new GridFSBucket(mongo.db, { bucketName: "content", chunkSizeBytes: CHUNK_BYTES });
    this.#files = new BoundedCollection(mongo, "content.files");
    this.#chunks = new BoundedCollection(mongo, "content.chunks");
  }

  /**
   * Writes bytes as they arrive, a chunk at a time. The file stays only if `settle` finds that a record names it.
   * @throws problems store_unavailable, request_timeout (a sweep condemned the file during the upload), and whatever
   * the stream fails with. Nothing is kept then.
   */
  async store({ stream, filename, contentType }: IncomingFile, owner: FileOwner): Promise<StoredFile> {
    const id = new ObjectId();
    const fileId = id.toHexString();
    await this.#pending.insertOne({ _id: fileId, ...this.#entry(owner, "arriving") });
    const upload = this.#bucket.openUploadStreamWithId(id, "", { metadata: { account: owner.accountId } });
    upload.on("error", () => undefined); // the call that failed reports it
    try {
      const written = await this.#write(upload, stream);
      const restartAge = { $set: { created_at: this.#clock.now() } };
      if (!(await this.#pending.updateOne({ _id: fileId, stage: "arriving" }, restartAge)))
        throw problem("request_timeout", "The upload took too long. Send it again.");
      return { id: fileId, filename, contentType: contentType ?? UNKNOWN_TYPE, ...written };
    } catch (error) {
      upload.destroy();
      // If the store did not respond, a chunk may still reach it. The sweep removes the file later.
      if (!isStoreFault(error)) await this.discard([fileId]);
      throw error;
    }
  }

  #entry({ accountId, candidateId }: FileOwner, stage: PendingFile["stage"]): Omit<PendingFile, "_id"> {
    return { account: accountId, candidate: candidateId, created_at: this.#clock.now(), stage };
  }

  async #write(upload: GridFSBucketWriteStream, stream: IncomingFile["stream"]) {
    const hash = createHash("sha256");
    let size = 0;
    for await (const part of stream) {
      hash.update(part);
      const fillsChunk = (size % CHUNK_BYTES) + part.length >= CHUNK_BYTES;
      size += part.length;
      const write = () => called((done) => upload.write(part, done));
      await (fillsChunk ? this.#mongo.bounded("insert content.chunks", write) : write());
    }
    if (size === 0) throw emptyFile();
    await this.#mongo.bounded("insert content.files", () => called((done) => upload.end(done)));
    return { size, sha256: hash.digest("hex") };
  }

  /**
   * Runs the write of a record that names these files. Then keeps the files that the record names, and removes the
   * others. Removes all of them if the write was refused. If the store does not respond, the write may have happened:
   * the sweep then decides.
   * @param names returns true if the written record names the file.
   */
  async settle<Written>(
    fileIds: readonly string[],
    write: () => Promise<Written>,
    names: (written: Written, fileId: string) => boolean,
  ): Promise<Written> {
    let written: Written;
    try {
      written = await write();
    } catch (error) {
      if (error instanceof Problem && !isStoreFault(error)) await this.discard(fileIds);
      throw error;
    }
    const settled = fileIds.map((_id) =>
      // A file that is already being replaced again stays pending.
      names(written, _id) ? this.#pending.deleteOne({ _id, stage: "arriving" }) : this.remove(_id),
    );
    await Promise.allSettled(settled);
    return written;
  }

  /** Lists a file that a write is about to replace. The sweep removes it later, so that current readers can finish. */
  async replaced(fileId: string, owner: FileOwner): Promise<void> {
    await this.#pending.updateOne({ _id: fileId }, { $set: this.#entry(owner, "replaced") }, { upsert: true });
  }

  /** Removes files that no record names. Never fails: the sweep removes what is left. */
  async discard(fileIds: readonly string[]): Promise<void> {
    await Promise.allSettled(fileIds.map((id) => this.remove(id)));
  }

  /** Returns the pending files of a candidate. One index range. */
  unsettled({ accountId, candidateId }: FileOwner): Promise<PendingFile[]> {
    return this.#pending.find({ account: accountId, candidate: candidateId });
  }

  /**
   * Removes the bytes of an unsettled file that no record may name any more, and makes its upload fail if it is in
   * progress. Such an upload may still write a chunk, so its entry stays for the sweep.
   */
  async removeUnsettled(entry: PendingFile): Promise<void> {
    if (!(await this.#condemn(entry))) return;
    if (entry.stage === "replaced") await this.remove(entry._id);
    else await this.#removeBytes(entry._id);
  }

  /** Removes the bytes, then their entry. Safe to repeat. */
  async remove(fileId: string): Promise<void> {
    await this.#removeBytes(fileId);
    await this.#pending.deleteOne({ _id: fileId });
  }

  async #removeBytes(fileId: string): Promise<void> {
    const _id = new ObjectId(fileId);
    // The stand-in for MongoDB fails if a delete matches nothing, and an upload that was cut off has no file document.
    if ((await this.#files.findOne({ _id })) !== null) await this.#files.deleteOne({ _id });
    await this.#chunks.deleteMany({ files_id: _id });
  }

  /** Streams bytes of a file, as they are read. Fails if the store does not respond or if bytes are missing. */
  open(fileId: string, range: ByteRange): Readable {
    return Readable.from(this.#read(new ObjectId(fileId), range));
  }

  /**
   * Reads one chunk at a time. GridFSBucket would keep a cursor open, hold its batches of 16 MiB in memory, and end
   * without an error where the last chunks are missing.
   */
  async *#read(_id: ObjectId, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
    const file = await this.#files.findOne({ _id });
    if (file === null) throw new Error("The file of a document's content is missing.");
    const { chunkSize } = file;
    for (let n = Math.floor(start / chunkSize); n * chunkSize < end; n++) {
      const offset = n * chunkSize;
      const chunk = await this.#chunks.findOne({ files_id: _id, n }, { promoteBuffers: true });
      const wanted = Math.min(end - offset, chunkSize);
      if (chunk === null || chunk.data.length < wanted)
        throw new Error("A chunk of a document's content is missing or too short.");
      yield chunk.data.subarray(Math.max(start - offset, 0), wanted);
    }
  }

  /** Returns up to 100 files that no request has worked with for at least `olderThanMs`, oldest first. */
  leftOvers(olderThanMs: number): Promise<PendingFile[]> {
    const before = this.#clock.now() - olderThanMs;
    return this.#pending.find({ created_at: { $lte: before } }, { sort: { created_at: 1 }, limit: MAX_LEFT_OVERS });
  }

  /**
   * Settles a left-over: removes its bytes unless a record names it.
   * @param isNamed looks up whether the owner's record names the file.
   * @returns true if the bytes were removed.
   */
  async removeLeftOver(entry: PendingFile, isNamed: (entry: PendingFile) => Promise<boolean>): Promise<boolean> {
    if (await isNamed(entry)) {
      await this.#pending.deleteOne({ _id: entry._id, created_at: entry.created_at });
      return false;
    }
    if (!(await this.#condemn(entry))) return false;
    await this.remove(entry._id);
    return true;
  }

  /** Puts the look at a left-over off, because the record that may name it cannot be read. Returns false. */
  async postpone({ _id, created_at }: PendingFile): Promise<false> {
    await this.#pending.updateOne({ _id, created_at }, { $set: { created_at: this.#clock.now() } });
    return false;
  }

  /** Makes the upload of a file fail. Returns false if a request has worked with the file since it was found. */
  #condemn({ _id, created_at }: PendingFile): Promise<boolean> {
    return this.#pending.updateOne({ _id, created_at }, { $set: { stage: "condemned" } });
  }
}

/** Returns true for an error after which the write may have happened, or may still happen. */
function isStoreFault(error: unknown): boolean {
  return error instanceof Problem && error.code === "store_unavailable";
}

/** Calls a method of a stream, and waits until it is done. */
function called(method: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => method((error) => (error ? reject(error) : resolve())));
}
