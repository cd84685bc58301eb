import { randomBytes, randomUUID } from "node:crypto";
import { BSON } from "mongodb";
import { expect } from "chai";
import { connectMongo } from "../../src/infra/mongo.ts";
import { startNetwork, type Network } from "../faults/store/network.ts";
import type { RequestOptions } from "../support/client.ts";
import { primaryOf, withOptions } from "../support/mongo-url.ts";
import { startService, type Service, testConfig } from "../support/service.ts";

const STORE_TIMEOUT_MS = 5_000;
/** Rows of a page that do not fit the first batch of a driver that does not ask for more. */
const ROWS = 110;
/** MAX_DOCUMENT_BYTES, as it is without a setting. */
const FILE_BYTES = 25 * 1024 * 1024;
const CHUNKS = Math.ceil(FILE_BYTES / (255 * 1024));
/** What a request for a document's content reads and writes, besides its key. */
const OF_CONTENT = ["candidates", "content_pending", "content.files", "content.chunks"];

interface Command {
  [name: string]: unknown;
  readonly filter?: object;
  readonly maxTimeMS?: number;
  readonly readConcern?: { readonly level: string };
  readonly writeConcern?: { readonly w: string; readonly j: boolean };
}

/**
 * Reads the command in a message to MongoDB (OP_MSG): it is the first section, after 21 bytes. Undefined in a later part of
 * one. The first part of a long message is an insert of a chunk.
 */
function commandIn(data: Buffer): Command | undefined {
  const isMessage = data.length > 25 && data.readInt32LE(12) === 2013 && data[20] === 0;
  const end = isMessage ? 21 + data.readInt32LE(21) : Infinity;
  if (end <= data.length) return BSON.deserialize(data.subarray(21, end));
  return isMessage && data.includes("content.chunks") ? { insert: "content.chunks" } : undefined;
}

describe("what the service sends to MongoDB", function () {
  let network: Network;
  let service: Service;
  const commands: Command[] = [];
  const named = (...names: string[]) => commands.filter((command) => names.some((name) => name in command));
  before(async function () {
    const { MONGODB_URL } = testConfig();
    const primary = await primaryOf(MONGODB_URL ?? "");
    if (primary.tls) this.skip();
    network = await startNetwork(primary.port);
    network.holds = (data) => {
      const command = commandIn(data);
      if (command !== undefined) commands.push(command);
      return false;
    };
    service = await startService({
      MONGODB_URL: primary.through(`127.0.0.1:${network.port}`, `test-${randomUUID()}`),
      STORE_TIMEOUT_MS,
      LIMIT_SCALE: 1_000,
    });
    const { client } = await service.account();
    const { body } = await client.post("/candidates", { references: [{}] }, { "Idempotency-Key": "one" });
    const path = `/candidates/${body.id}`;
    await client.post("/candidates", {}, { "Idempotency-Key": "one" });
    const { body: document } = await client.post(`${path}/documents`, { name: "CV" });
    const content = `${path}/documents/${document.id}/content`;
    await client.request("PUT", content, { body: Buffer.from("bytes"), headers: { "Content-Type": "text/plain" } });
    await client.get(content);
    await client.patch(path, { name: "Ann" });
    await client.patch(`/references/${body.references[0]?.id}`, { name: "Bob" });
    await client.patch("/settings/assistant", { language: "de" });
    await client.get(`${path}/pack`);
    await client.request("DELETE", path);
    for (let n = 0; n < ROWS; n++) await client.post("/candidates");
    commands.push({ mark: true });
    await client.get("/candidates?limit=200");
  });
  after(async () => {
    await service?.stopAtOnce();
    network?.close();
  });

  it("has a time limit of the server's own", () => {
    const sent = named("find", "insert", "update", "delete", "ping");
    expect(sent).to.have.length.above(50);
    const unlimited = sent.filter(({ maxTimeMS }) => maxTimeMS !== STORE_TIMEOUT_MS);
    // GridFSBucket has no such option. What it writes late is a left-over, which a sweep removes.
    const collections = unlimited.map((command) => command["insert"] ?? command["find"] ?? command["update"]);
    expect(collections).to.deep.equal(["content.files", "content.chunks", "content.files"]);
  });

  it("reads what a majority has", () => {
    const reads = named("find");
    expect(reads).to.have.length.above(10);
    expect(new Set(reads.map(({ readConcern }) => readConcern?.level))).to.deep.equal(new Set(["majority"]));
  });

  it("writes so that a majority has it in its journal", () => {
    const writes = named("insert", "update", "delete");
    expect(writes).to.have.length.above(10);
    const concerns = new Set(writes.map(({ writeConcern }) => `${writeConcern?.w} ${writeConcern?.j}`));
    expect(concerns).to.deep.equal(new Set(["majority true"]));
  });

  it("creates the indexes of GridFS at the start, not with the first upload", () => {
    const created = commands.findIndex((command) => command["createIndexes"] === "content.chunks");
    const served = commands.findIndex((command) => command["insert"] === "candidates");
    expect(created).to.be.within(0, served);
    expect(commands[created]?.["indexes"]).to.deep.include({
      key: { files_id: 1, n: 1 },
      name: "files_id_1_n_1",
      unique: true,
    });
  });

  it("reads a page of the feed in one round trip", () => {
    const after = commands.slice(commands.findIndex(({ mark }) => mark === true));
    const reads = after.filter((command) => command["find"] === "candidates" || "getMore" in command);
    expect(reads).to.have.length(1);
    expect(reads[0]?.["batchSize"]).to.be.above(ROWS);
  });

  it("takes one round trip for each chunk of a file, and at most ten more, whether it is new, replaces another or is read", async () => {
    const { client } = await service.account();
    const { body } = await client.post("/candidates", { documents: ["Passport"] });
    const content = `/candidates/${body.id}/documents/${body.documents[0]?.id}/content`;
    const counted = async (method: string, options: RequestOptions = {}) => {
      const from = commands.length;
      expect((await client.request(method, content, options)).status).to.equal(200);
      return commands.slice(from).filter((command) => {
        const { find, insert, update, filter } = command;
        if (filter !== undefined && !("_id" in filter || "files_id" in filter)) return false; // a sweep
        return OF_CONTENT.includes(String(find ?? insert ?? update ?? command["delete"] ?? command["collection"]));
      });
    };
    const file = { body: randomBytes(FILE_BYTES), headers: { "Content-Type": "application/pdf" } };
    for (const options of [file, file])
      expect(await counted("PUT", options)).to.have.length.within(CHUNKS, CHUNKS + 10);
    expect(await counted("GET")).to.have.length.within(CHUNKS, CHUNKS + 10);
  });
});

describe("a MONGODB_URL that asks for less than the service promises", () => {
  const cases: [options: Record<string, string>, found: RegExp][] = [
    [
      { readPreference: "secondaryPreferred" },
      /asks for readPreference=secondaryPreferred\. .* readPreference=primary/,
    ],
    [{ readConcernLevel: "local" }, /asks for readConcernLevel=local\. .* readConcernLevel=majority/],
    [{ w: "1" }, /asks for w=1\. .* w=majority/],
    [{ journal: "false" }, /asks for journal=false\. .* journal=true/],
    [{ w: "0", readPreference: "nearest" }, /readPreference=nearest and w=0/],
  ];
  for (const [options, found] of cases) {
    it(`is refused by name: ${new URLSearchParams(options).toString()}`, async () => {
      const url = withOptions(testConfig().MONGODB_URL ?? "", options);
      const connecting = connectMongo({ url, timeoutMs: STORE_TIMEOUT_MS });
      const refused = await connecting.then(
        () => "connected",
        (error: Error) => error.message,
      );
      expect(refused).to.match(found);
    });
  }

  it("is taken if it asks for the same", async () => {
    const options = { readPreference: "primary", readConcernLevel: "majority", w: "majority", journal: "true" };
    const mongo = await connectMongo({
      url: withOptions(testConfig().MONGODB_URL ?? "", options),
      timeoutMs: STORE_TIMEOUT_MS,
    });
    await mongo.close();
  });
});
