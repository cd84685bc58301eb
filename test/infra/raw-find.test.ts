import { expect } from "chai";
import { BSON, type Db, Long, ObjectId } from "mongodb";
import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import { findRaw } from "../../src/infra/raw-find.ts";
import { type Network, startNetwork } from "../faults/store/network.ts";
import { primaryOf } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";

describe("a find of undecoded documents", function () {
  let network: Network;
  let mongo: Mongo;
  let finds: number;
  let cutAt: number;
  before(async function () {
    const primary = await primaryOf(testConfig().MONGODB_URL ?? "");
    if (primary.tls) this.skip();
    network = await startNetwork(primary.port);
    network.holds = (data) => {
      if (data.includes("\u0002find\0\u0005\0\0\0rows") && ++finds <= cutAt) network.cut();
      return false;
    };
    mongo = await connectMongo({
      url: primary.through(`127.0.0.1:${network.port}`, `test-raw-find-${process.pid}`),
      timeoutMs: 10_000,
    });
    const rows = Array.from({ length: 7 }, (_, _id) => ({ _id }));
    await mongo.db.collection<{ _id: number }>("rows").insertMany(rows);
  });
  beforeEach(() => {
    finds = 0;
    cutAt = 0;
  });
  after(async () => {
    await mongo?.db.dropDatabase();
    await mongo?.close();
    network?.close();
  });

  const find = () =>
    mongo.bounded("find rows", (limits) =>
      findRaw(mongo.db, { collection: "rows", filter: {}, sort: { _id: 1 }, projection: { _id: 1 }, limit: 3 }, limits),
    );

  it("returns up to the limit, in order, in one round trip", async () => {
    const { documents, cut } = await find();
    expect(documents.map((document) => BSON.deserialize(document))).to.deep.equal([{ _id: 0 }, { _id: 1 }, { _id: 2 }]);
    expect({ cut, finds }).to.deep.equal({ cut: false, finds: 1 });
  });

  it("is sent again if the connection breaks, once", async () => {
    cutAt = 1;
    expect((await find()).documents).to.have.length(3);
    expect(finds).to.equal(2);
    finds = 0;
    cutAt = 2;
    const refused = await find().catch((error: unknown) => error);
    expect(refused).to.have.property("code", "store_unavailable");
    expect(finds).to.equal(2);
  });
});

describe("a find of undecoded documents, by what the server replies", () => {
  /** Decodes the replies as the driver does, one for each command. */
  function serverAnswering(...replies: object[]) {
    const commands: Record<string, unknown>[] = [];
    const decoded: Record<string, unknown>[] = [];
    const db = {
      async command(command: Record<string, unknown>, options: object) {
        commands.push(command);
        const reply = BSON.deserialize(BSON.serialize(replies[commands.length - 1] ?? {}), options);
        decoded.push(reply);
        if (reply["ok"] !== 1) throw new Error("refused");
        return reply;
      },
    } as unknown as Db;
    const limits = {
      signal: new AbortController().signal,
      maxTimeMS: 100,
      timeoutMS: 100,
      ignoreUndefined: true,
    } as const;
    const find = () => findRaw(db, { collection: "rows", filter: {}, projection: {}, limit: 3 }, limits);
    return { find, commands, decoded };
  }

  it("leaves the driver an error that it can read: from it, the driver knows that the primary has changed", async () => {
    const topologyVersion = { processId: new ObjectId(), counter: Long.fromNumber(7) };
    const { find, decoded } = serverAnswering({ ok: 0, code: 10_107, topologyVersion });
    await find().catch(() => undefined);
    expect(decoded[0]?.["topologyVersion"]).to.deep.equal({ processId: topologyVersion.processId, counter: 7 });
  });

  it("ends a query whose reply is cut, and has the documents even if that fails", async () => {
    for (const id of [Long.fromNumber(2 ** 40), Long.MAX_VALUE]) {
      const cursor = { firstBatch: [{ _id: 1 }], id, ns: "onboarding.rows" };
      const { find, commands } = serverAnswering({ ok: 1, cursor }, { ok: 0 });
      const { documents, cut } = await find();
      expect(documents.map((document) => BSON.deserialize(document))).to.deep.equal([{ _id: 1 }]);
      expect(cut).to.equal(true);
      expect(BSON.serialize(commands[1] ?? {})).to.deep.equal(BSON.serialize({ killCursors: "rows", cursors: [id] }));
    }
  });
});
