import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { ObjectId } from "mongodb";
import { ContentStore } from "../../src/content/store.ts";
import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import { Problem } from "../../src/problems.ts";
import { candidateWithDocument, download, put } from "../documents/support.ts";
import { type Network, startNetwork } from "../faults/store/network.ts";
import { primaryOf, withOptions } from "../support/mongo-url.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { useStarted } from "../support/use-started.ts";

const MIB = 1024 * 1024;
const KIB = 1024;

for (const chunkBytes of [255 * KIB, MIB])
  describe(`a file of many chunks of ${chunkBytes / KIB} KiB`, () => {
    const bytes = randomBytes(5 * MIB + 1000);
    const service = useService({ LIMIT_SCALE: 1_000 });
    const { client } = useAccount(service);
    let content: string;
    beforeEach(async () => {
      ({ content } = await candidateWithDocument(client));
      expect((await put(client, content, bytes)).status).to.equal(200);
      await rewrite(bytes);
    });

    /**
     * Replaces the chunks of the newest file by those of these bytes, without the one that is `missing`. The stand-in for
     * MongoDB can only remove all of them.
     */
    async function rewrite(all: Buffer, missing?: number): Promise<void> {
      const { db } = service.operators.mongo;
      const [file] = await db.collection("content.files").find().sort({ uploadDate: -1 }).limit(1).toArray();
      if (file === undefined) throw new Error("There is no file.");
      const chunks = db.collection("content.chunks");
      await chunks.deleteMany({ files_id: file._id });
      await db.collection("content.files").deleteOne({ _id: file._id });
      await db.collection("content.files").insertOne({ ...file, chunkSize: chunkBytes });
      const parts = Array.from({ length: Math.ceil(all.length / chunkBytes) }, (_, n) => ({
        _id: new ObjectId(),
        files_id: file._id,
        n,
        data: all.subarray(n * chunkBytes, (n + 1) * chunkBytes),
      }));
      await chunks.insertMany(parts.filter(({ n }) => n !== missing));
    }

    it("comes back unchanged, whole and in ranges that cross the borders of chunks", async () => {
      expect((await download(client, content)).bytes.equals(bytes)).to.equal(true);
      const starts = [0, chunkBytes - 1, 2 * chunkBytes + 5];
      const lengths = [1, 2].flatMap((chunks) => [chunks * chunkBytes, chunks * chunkBytes + 1]);
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

    for (const [which, missing] of [
      ["a chunk", 3],
      ["the last chunk", Math.floor(bytes.length / chunkBytes)],
    ] as const)
      it(`is broken off where ${which} is missing, and has the right bytes up to there`, async () => {
        await rewrite(bytes, missing);
        for (const start of [0, 2 * chunkBytes]) {
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
          expect(received.length).to.be.at.most(missing * chunkBytes - start);
          expect(received.equals(bytes.subarray(start, start + received.length))).to.equal(true);
        }
        const before = await download(client, content, { Range: `bytes=0-${missing * chunkBytes - 1}` });
        expect(before.bytes.equals(bytes.subarray(0, missing * chunkBytes))).to.equal(true);
      });
  });

describe("the store of files", () => {
  const TIMEOUT_MS = 1_000;
  const owner = { accountId: "acct_a", candidateId: "cand_a" };
  const setUp = useStarted("The store of files", start, async ({ network, mongo }) => {
    await mongo.db.dropDatabase();
    await mongo.close();
    network.close();
  });
  const upload = (stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) =>
    setUp.store.store({ stream, filename: null, contentType: null }, owner);
  const read = (id: string, end: number) => buffer(setUp.store.open(id, { start: 0, end }));
  /** Holds back what has all these words, from now on. */
  const hold = (...words: string[]) => (setUp.network.holds = (data) => words.every((word) => data.includes(word)));
  const release = () => {
    setUp.network.holds = () => false;
    setUp.network.release();
  };
  afterEach(release);

  async function start() {
    const { MONGODB_URL = "" } = process.env;
    const primary = await primaryOf(MONGODB_URL);
    const net: Network = await startNetwork(primary.port, primary.host);
    const through = primary.through(`127.0.0.1:${net.port}`, `test-${randomUUID()}`);
    const connected: Mongo = await connectMongo({
      url: withOptions(through, { monitorCommands: "true" }),
      timeoutMs: TIMEOUT_MS,
    });
    const sent: Record<string, unknown>[] = [];
    connected.client.on("commandStarted", ({ command }) => sent.push(command as Record<string, unknown>));
    return { network: net, mongo: connected, store: new ContentStore(connected, { now: Date.now }), commands: sent };
  }

  it("takes parts of any size, and keeps nothing of what it was given", async () => {
    const bytes = randomBytes(5 * MIB + 1000);
    const sizes = [1, 1, 70_000, MIB, 2 * MIB + 3];
    function* parts() {
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const part = Buffer.from(bytes.subarray(at, at + (sizes[i % sizes.length] ?? 1)));
        at += part.length;
        yield part;
        part.fill(0);
      }
    }
    const { id, size } = await upload(parts());
    expect(size).to.equal(bytes.length);
    expect((await read(id, size)).equals(bytes)).to.equal(true);
    const file = await setUp.mongo.db.collection("content.files").findOne({ _id: new ObjectId(id) });
    expect(file).to.deep.include({ length: size, chunkSize: 255 * KIB, filename: "", metadata: { account: "acct_a" } });
  });

  it("reads no more of an upload while MongoDB is slow, and responds with 503 in time if it does not respond", async () => {
    let taken = 0;
    function* parts() {
      for (; taken < 10 * MIB; taken += 65_536) yield Buffer.alloc(65_536);
    }
    hold("insert", "content.chunks");
    const began = performance.now();
    expect(await failureOf(upload(parts()))).to.equal("store_unavailable");
    expect(performance.now() - began).to.be.below(2 * TIMEOUT_MS);
    expect(taken).to.be.below(255 * KIB);
    const { length } = await setUp.store.unsettled(owner);
    expect(length, "the chunk may still arrive, so the sweep removes it").to.be.above(0);
  });

  it("responds with 503 in time if MongoDB does not respond to a download", async () => {
    const { id, size } = await upload([Buffer.alloc(100)]);
    for (const collection of ["content.files", "content.chunks"]) {
      hold("find", collection);
      expect(await failureOf(read(id, size))).to.equal("store_unavailable");
      release();
    }
  });

  it("reads one chunk ahead of a slow client, and no more once it has left", async () => {
    const { id, size } = await upload([Buffer.alloc(8 * MIB)]);
    const from = setUp.commands.length;
    const reads = () => setUp.commands.slice(from).filter((command) => command["find"] === "content.chunks").length;
    const download = setUp.store.open(id, { start: 0, end: size });
    for await (const _ of download) break;
    await setTimeout(100);
    expect(reads()).to.be.within(1, 3);
  });

  it("removes the chunks of one file only", async () => {
    const [one, other] = [await upload([Buffer.alloc(1)]), await upload([Buffer.alloc(1)])];
    const from = setUp.commands.length;
    await setUp.store.remove(one.id);
    const removed = setUp.commands.slice(from).filter((command) => command["delete"] === "content.chunks");
    expect(removed.map((command) => command["deletes"])).to.deep.equal([
      [{ q: { files_id: new ObjectId(one.id) }, limit: 0 }],
    ]);
    expect(await failureOf(read(one.id, 1))).to.match(/missing/);
    expect(await read(other.id, 1)).to.have.length(1);
  });
});

async function failureOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "nothing failed",
    (error: unknown) => (error instanceof Problem ? error.code : String(error)),
  );
}
