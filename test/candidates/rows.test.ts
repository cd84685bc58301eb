import { expect } from "chai";
import type { Collection } from "mongodb";
import { CandidateReader } from "../../src/candidates/reader.ts";
import { MAX_ROW_RECORD_BYTES } from "../../src/candidates/rows.ts";
import { feedPosition } from "../../src/candidates/feed-clock.ts";
import { type Stored } from "../../src/candidates/stored.ts";
import { createLog } from "../../src/infra/log.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { startReplica } from "../../src/process/replica.ts";
import { operationsDuring } from "../support/operations.ts";
import { useAccount, useNoService, useOwnService } from "../support/use-service.ts";

describe("the rows of GET /candidates", () => {
  useNoService();
  const service = useOwnService();
  const account = useAccount(service);
  const { client } = account;
  let candidates: Collection<Stored>;
  before(() => {
    candidates = service.operators.mongo.db.collection("candidates");
  });

  async function create(name: string, more: object = {}): Promise<string> {
    return (await client.post("/candidates", { name, ...more })).body.id;
  }
  const stored = async (_id: string) => (await candidates.findOne({ _id }))!;
  const listed = async () => (await client.get("/candidates")).body.data;
  const names = async () => (await listed()).map(({ name }) => name);
  /** Changes the stored row, so that a page shows whether it was used. */
  async function mark(_id: string, changes: Partial<Stored> = {}): Promise<void> {
    const { row } = await stored(_id);
    const json = JSON.stringify({ ...JSON.parse(row!.json), name: "from the stored row" });
    await candidates.updateOne({ _id }, { $set: { row: { json }, ...changes } });
  }

  it("are rendered when a candidate is written: a page shows what is stored", async () => {
    await mark(await create("Ann"));
    expect(await names()).to.deep.equal(["from the stored row"]);
  });

  it("are rendered again if a process of an earlier version has written the candidate", async () => {
    const id = await create("Ann");
    await mark(id);
    const { version } = await stored(id);
    // Such a process keeps the members that it does not know.
    await candidates.updateOne({ _id: id }, { $set: { name: "Bob", version: version + 1 } });
    expect(await names()).to.deep.equal(["Bob"]);
  });

  it("are rendered again if they are stored in another form", async () => {
    await mark(await create("Ann"), { row_form: 0 });
    expect(await names()).to.deep.equal(["Ann"]);
  });

  it("are in the feed's order and equal to what GET shows, however they were stored", async () => {
    const [used, older, missing, deleted, last] = [
      await create("used", { documents: ["CV"], references: [{ name: "漢字 \u0001" }] }),
      await create("older form", { metadata: { "a.b": "$" } }),
      await create("missing", { documents: ["CV", "Passport"] }),
      await create("deleted"),
      await create("last"),
    ];
    const before = await listed();
    await candidates.updateOne({ _id: older }, { $set: { row_form: 0 } });
    await candidates.updateOne({ _id: missing }, { $unset: { row: "", row_form: "", row_version: "" } });
    const page = await client.get("/candidates");
    expect(page.body.data).to.deep.equal(before);
    for (const id of [used, older, missing, last])
      expect(page.body.data.find((row) => row.id === id)).to.deep.equal((await client.get(`/candidates/${id}`)).body);
    expect((await client.request("DELETE", `/candidates/${deleted}`)).status).to.equal(204);
    const { data } = (await client.get("/candidates")).body;
    expect(data.map(({ id }) => id)).to.deep.equal([used, older, missing, last, deleted]);
  });

  it("have the same bytes and entity tag on every replica, whether they are stored or not", async () => {
    const ids = [await create("Ann", { documents: ["CV"] }), await create("Bob")];
    for (const [n, id] of ids.entries()) await place(id, n + 1);
    const first = await page(service.url);
    const { row } = await stored(ids[0]!);
    await candidates.updateOne({ _id: ids[0]! }, { $unset: { row: "", row_form: "", row_version: "" } });
    const replica = await startReplica(service.config, createLog("silent"));
    try {
      const second = await page(`http://127.0.0.1:${replica.port}`);
      expect(second).to.deep.equal(first);
      expect(second.text, "the row, rendered as it was stored").to.include(`[${row!.json},{`);
    } finally {
      await replica.stop();
    }
  });

  it("are not read for an unchanged page: it is 304, until a row or has_more changes", async () => {
    const ids = [await create("Ann"), await create("Bob")];
    for (const [n, id] of ids.entries()) await place(id, n + 1);
    const path = "/candidates?limit=2";
    const tag = (await client.get(path)).headers.get("etag") ?? "";
    const again = () => client.get(path, { "If-None-Match": `"other", ${tag}` });
    const operations = await operationsDuring(async () => expect((await again()).status).to.equal(304));
    expect(operations).to.deep.equal(["find candidates"]);
    expect((await client.get(path, { "If-None-Match": '"other"' })).body.data).to.have.length(2);
    await candidates.updateOne({ _id: ids[0]! }, { $inc: { version: 1 } });
    expect((await again()).status, "a version").to.equal(200);
    await candidates.updateOne({ _id: ids[0]! }, { $inc: { version: -1 } });
    expect((await again()).status).to.equal(304);
    await create("Cid");
    const { status, body } = await again();
    expect(status, "has_more").to.equal(200);
    expect(body).to.include({ has_more: true });
  });

  it("change their page's entity tag if a version number comes again after a restore from a backup", async () => {
    const ids = [await create("Ann"), await create("Bob")];
    for (const [n, id] of ids.entries()) await place(id, n + 10);
    const { headers, body } = await client.get("/candidates");
    await place(ids[0]!, 5);
    const restored = await client.get("/candidates", { "If-None-Match": headers.get("etag") ?? "" });
    expect(restored.status).to.equal(200);
    expect(restored.body.cursor).to.equal(body.cursor);
  });

  it("leave nothing of a deleted candidate, document or reference in the record", async () => {
    const { id, documents, references } = (
      await client.post("/candidates", {
        name: "Zebediah",
        documents: ["Passport of Zebediah", "CV"],
        references: [{ name: "Philippa Underhill" }, { name: "Charles" }],
      })
    ).body;
    expect((await stored(id)).row?.json)
      .to.include("Passport of Zebediah")
      .and.to.include("Underhill");
    await client.request("DELETE", `/candidates/${id}/documents/${documents[0]!.id}`);
    expect(JSON.stringify(await stored(id))).not.to.include("Passport of Zebediah");
    await client.request("DELETE", `/references/${references[0]!.id}`);
    const less = await stored(id);
    expect(JSON.stringify(less)).not.to.include("Underhill");
    expect(less.row?.json).to.include("Charles");
    await client.request("DELETE", `/candidates/${id}`);
    const tombstone = JSON.stringify(await stored(id));
    for (const text of ["Zebediah", "Charles", "CV"]) expect(tombstone).not.to.include(text);
  });

  it("are not stored with large records, and are shown all the same", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, "漢".repeat(500)]));
    const id = await create("large", { references: Array.from({ length: 4 }, () => ({ metadata })) });
    await create("small");
    const large = await stored(id);
    expect(large.size).to.be.above(MAX_ROW_RECORD_BYTES);
    expect(large.row).to.equal(undefined);
    expect(await names()).to.deep.equal(["large", "small"]);
    expect((await listed())[0]).to.deep.equal((await client.get(`/candidates/${id}`)).body);
  });

  it("are read again if their candidate is changed before they are rendered, so that a look-up finds it", async () => {
    const id = await create("Ann", { external_id: "ats-1" });
    await candidates.updateOne({ _id: id }, { $set: { row_form: 0 } });
    const { rows } = await lookUp("ats-1", async (reads) => {
      if (reads === 1) expect((await client.patch(`/candidates/${id}`, { name: "Bob" })).status).to.equal(200);
    });
    expect(rows.map(({ json }) => JSON.parse(Buffer.from(json!).toString()).name)).to.deep.equal(["Bob"]);
  });

  it("are left out if their candidate is changed each time", async () => {
    const id = await create("Ann", { external_id: "ats-1" });
    await candidates.updateOne({ _id: id }, { $set: { row_form: 0 } });
    let last = 0;
    const { rows } = await lookUp("ats-1", async (reads) => {
      last = reads;
      await candidates.updateOne({ _id: id }, { $inc: { version: 1 } });
    });
    expect(rows.map(({ json }) => json)).to.deep.equal([undefined]);
    expect(last).to.equal(6);
  });

  /** Reads the page of one external_id, and calls `between` after each read of MongoDB with the number of reads so far. */
  function lookUp(external_id: string, between: (reads: number) => Promise<void>) {
    const { mongo } = service.operators;
    let reads = 0;
    const bounded: Mongo["bounded"] = async (name, operation) => {
      const result = await mongo.bounded(name, operation);
      await between(++reads);
      return result;
    };
    return new CandidateReader({ ...mongo, bounded }).feed({ accountId: account.id, after: "", external_id, limit: 1 });
  }

  async function page(url: string): Promise<{ text: string; etag: string | null }> {
    const response = await fetch(`${url}/candidates`, { headers: { Authorization: `Bearer ${account.key}` } });
    return { text: await response.text(), etag: response.headers.get("etag") };
  }

  /** Moves a candidate to a place long ago, so that the cursor of its page stands still. */
  async function place(_id: string, epochMs: number): Promise<void> {
    await candidates.updateOne({ _id }, { $set: { change: `${feedPosition(epochMs)}.${_id}` } });
  }
});
