import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { Binary, ObjectId } from "mongodb";
import { CHUNK_BYTES, ChunkStore, ChunkWriter } from "../../src/content/chunk-store.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { candidateWithDocument, download, put } from "../documents/support.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("a file of many chunks", () => {
  /** Five times 1 MiB: 20 chunks and part of another. Read from their start, they come as 1, 1, 2, 4, 8 and 5 chunks. */
  const bytes = randomBytes(5 * 1024 * 1024);
  const service = useService({ LIMIT_SCALE: 1_000 });
  const { client } = useAccount(service);
  let content: string;
  beforeEach(async () => {
    ({ content } = await candidateWithDocument(client));
    expect((await put(client, content, bytes)).status).to.equal(200);
  });

  /** Removes one chunk of the newest file. The stand-in for MongoDB can only remove all of them, so the others are put back. */
  async function removeChunk(n: number): Promise<void> {
    const { db } = service.operators.mongo;
    const [file] = await db.collection("content.files").find().sort({ uploadDate: -1 }).limit(1).toArray();
    const chunks = db.collection("content.chunks");
    const all = await chunks.find({ files_id: file?._id }).toArray();
    await chunks.deleteMany({ files_id: file?._id });
    await chunks.insertMany(all.filter((chunk) => chunk["n"] !== n));
    expect(await chunks.find({ files_id: file?._id }).toArray()).to.have.length(all.length - 1);
  }

  it("comes back unchanged, whole and in ranges that cross the borders of chunks and of round trips", async () => {
    expect((await download(client, content)).bytes.equals(bytes)).to.equal(true);
    const starts = [0, CHUNK_BYTES - 1, 3 * CHUNK_BYTES + 5];
    const lengths = [1, 2, 4, 8, 16].flatMap((chunks) => [chunks * CHUNK_BYTES, chunks * CHUNK_BYTES + 1]);
    const wrong: string[] = [];
    for (const start of starts) {
      for (const length of [2, ...lengths, bytes.length - start]) {
        const Range = `bytes=${start}-${start + length - 1}`;
        const read = await download(client, content, { Range });
        if (read.status !== 206 || !read.bytes.equals(bytes.subarray(start, start + length))) wrong.push(Range);
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  it("is broken off where a chunk is missing, and has the right bytes up to there", async () => {
    const missing = 10;
    await removeChunk(missing);
    for (const start of [0, 5 * CHUNK_BYTES]) {
      const headers = { Authorization: `Bearer ${client.key}`, Range: `bytes=${start}-` };
      const response = await fetch(client.url + content, { headers });
      expect(response.status).to.equal(206);
      const parts: Uint8Array[] = [];
      const read = async () => {
        for await (const part of response.body ?? []) parts.push(part);
        return "complete";
      };
      expect(await read().catch(() => "broken off")).to.equal("broken off");
      const received = Buffer.concat(parts);
      expect(received.length).to.be.at.most(missing * CHUNK_BYTES - start);
      expect(received.equals(bytes.subarray(start, start + received.length))).to.equal(true);
    }
    const before = await download(client, content, { Range: `bytes=0-${missing * CHUNK_BYTES - 1}` });
    expect(before.bytes.equals(bytes.subarray(0, missing * CHUNK_BYTES))).to.equal(true);
  });
});

describe("the writer of chunks", () => {
  interface Batch {
    readonly first: number;
    readonly data: readonly Uint8Array[];
  }

  function writing(insert: (batch: Batch) => Promise<void> = () => Promise.resolve()) {
    const batches: Batch[] = [];
    const counted = { held: 0 };
    const writer = new ChunkWriter({
      insert(first, data) {
        batches.push({ first, data });
        return insert({ first, data });
      },
      batch: (before) => Math.min(Math.max(before, 1), 8),
      hold: (bytes) => (counted.held += bytes),
    });
    return { writer, batches, counted };
  }

  it("cuts parts of any size into chunks, and writes them in order in growing batches", async () => {
    const bytes = randomBytes(20 * CHUNK_BYTES + 1000);
    const { writer, batches, counted } = writing();
    const sizes = [1, 1, 70_000, CHUNK_BYTES, 2 * CHUNK_BYTES + 3];
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const part = Buffer.from(bytes.subarray(at, at + (sizes[i % sizes.length] ?? 1)));
      at += part.length;
      await writer.write(part);
      part.fill(0); // the writer keeps nothing of what it was given
    }
    await writer.end();
    expect(batches.map(({ first, data }) => [first, data.length])).to.deep.equal([
      [0, 1],
      [1, 1],
      [2, 2],
      [4, 4],
      [8, 8],
      [16, 5],
    ]);
    const chunks = batches.flatMap(({ data }) => data);
    expect(chunks.map(({ length }) => length)).to.deep.equal([...Array<number>(20).fill(CHUNK_BYTES), 1000]);
    expect(Buffer.concat(chunks).equals(bytes)).to.equal(true);
    expect(counted.held).to.equal(0);
  });

  it("counts the chunk that is not complete, once, however small its parts are", async () => {
    const { writer, counted } = writing();
    for (let n = 0; n < 100; n++) await writer.write(Buffer.alloc(1));
    expect(counted.held).to.equal(CHUNK_BYTES);
    await writer.stop();
    expect(counted.held).to.equal(0);
  });

  it("counts nothing any more after a stop, which waits for the batch that is being written", async () => {
    let finish = () => {};
    const { writer, counted } = writing(() => new Promise((resolve) => (finish = resolve)));
    await writer.write(Buffer.alloc(CHUNK_BYTES + 10));
    expect(counted.held).to.equal(2 * CHUNK_BYTES);
    const stopping = writer.stop();
    expect(counted.held).to.equal(CHUNK_BYTES);
    finish();
    expect(await stopping).to.equal(undefined);
    expect(counted.held).to.equal(0);
  });

  it("reports a failed batch to the next write and to the stop, and counts nothing any more", async () => {
    const failure = new Error("no");
    const { writer, batches, counted } = writing(() => Promise.reject(failure));
    const failed = await writer.write(Buffer.alloc(5 * CHUNK_BYTES)).catch((error: unknown) => error);
    expect(failed).to.equal(failure);
    expect(await writer.stop()).to.equal(failure);
    expect(batches).to.have.length(1);
    expect(counted.held).to.equal(0);
  });
});

describe("the removal of a file's chunks", () => {
  it("asks for those of this file only", async () => {
    const filters: unknown[] = []; // the stand-in for MongoDB keeps other files' chunks whatever the filter is
    const deleteMany = (filter: unknown) => Promise.resolve(filters.push(filter));
    const store = new ChunkStore({ db: { collection: () => ({ deleteMany }) } } as unknown as Mongo);
    const files_id = new ObjectId();
    await store.remove(files_id, {});
    expect(filters).to.deep.equal([{ files_id }]);
  });
});

describe("downloads from a slow store", () => {
  const CHUNKS = 40;

  /** A store whose round trips wait until they are answered. */
  function slowStore() {
    let asked: { chunks: number; answer: () => void }[] = [];
    const data = new Binary(Buffer.alloc(CHUNK_BYTES));
    const find = ({ n }: { n: { $gte: number; $lt: number } }) => {
      const chunks = n.$lt - n.$gte;
      const found = Array.from({ length: chunks }, (_, i) => ({ n: n.$gte + i, data }));
      const toArray = () => new Promise((resolve) => asked.push({ chunks, answer: () => resolve(found) }));
      return { sort: () => ({ toArray }) };
    };
    const mongo = {
      db: { collection: () => ({ find }) },
      bounded: (_: string, run: (limits: object) => unknown) => run({}),
    };
    const store = new ChunkStore(mongo as unknown as Mongo);
    return {
      read: () => store.read(new ObjectId(), { start: 0, end: CHUNKS * CHUNK_BYTES }),
      /** Answers what was asked for until now. Returns the number of chunks of each round trip. */
      async answer(): Promise<number[]> {
        await setImmediate();
        const round = asked;
        asked = [];
        for (const { answer } of round) answer();
        return round.map(({ chunks }) => chunks);
      },
    };
  }

  async function sizeOf(parts: AsyncIterable<Uint8Array>): Promise<number> {
    let size = 0;
    for await (const part of parts) size += part.length;
    return size;
  }

  it("ask for 32 MiB together, and beyond that for one chunk each", async () => {
    const READERS = 100;
    const store = slowStore();
    const reading = Promise.all(Array.from({ length: READERS }, () => sizeOf(store.read())));
    const rounds: number[] = [];
    for (let round = await store.answer(); round.length > 0; round = await store.answer())
      rounds.push(round.reduce((sum, chunks) => sum + chunks, 0));
    expect(new Set(await reading)).to.deep.equal(new Set([CHUNKS * CHUNK_BYTES]));
    const plenty = Math.ceil((32 * 1024 * 1024) / CHUNK_BYTES);
    expect(Math.max(...rounds)).to.be.within(plenty, plenty + 8 + READERS);
  });

  it("ask for the next chunks before the reader has taken the last ones", async () => {
    const store = slowStore();
    const reader = store.read();
    const first = reader.next();
    expect(await store.answer()).to.deep.equal([1]);
    await first;
    expect(await store.answer(), "the second chunk, before it is read").to.deep.equal([1]);
    expect(await store.answer(), "nothing beyond it").to.deep.equal([]);
    await reader.return(undefined);
  });

  it("no longer count once their readers have left, nor do the chunks that were on their way", async () => {
    const store = slowStore();
    // Three times 60 chunks are more than 32 MiB. Once that much is held, nothing is asked for ahead.
    for (let time = 0; time < 3; time++) {
      const readers = Array.from({ length: 60 }, () => store.read());
      const begun = Promise.all(readers.map((reader) => reader.next()));
      await store.answer();
      await begun;
      await Promise.all(readers.map((reader) => reader.return(undefined)));
      expect(await store.answer(), "round trips on their way").to.have.length(60);
      await setImmediate();
    }
    const reading = sizeOf(store.read());
    const rounds: number[] = [];
    for (let round = await store.answer(); round.length > 0; round = await store.answer()) rounds.push(...round);
    expect(await reading).to.equal(CHUNKS * CHUNK_BYTES);
    expect(rounds).to.deep.equal([1, 1, 2, 4, 8, 8, 8, 8]);
  });
});
