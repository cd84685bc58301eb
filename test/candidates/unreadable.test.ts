import { expect } from "chai";
import type { Collection } from "mongodb";
import { feedPosition } from "../../src/candidates/feed-clock.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { Mirror } from "../../src/client/mirror.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { expiries } from "../../src/sweeps/sweep.ts";
import { expectProblem } from "../support/client.ts";
import { author, documentRecord } from "../support/records.ts";
import { scrape } from "../support/metrics.ts";
import { useAccount, useNoService, useOwnService } from "../support/use-service.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";

type Damage = Partial<Record<"$set" | "$unset", Record<string, unknown>>>;

const NO_ROW = { row: "", row_form: "", row_version: "" } as const;

/** Ways to damage a record. Each also takes the row away that was stored with it, so that the feed must read the record. */
const DAMAGES: Record<string, Damage> = {
  "a missing field": { $unset: { ...NO_ROW, name: "" } },
  "missing documents": { $unset: { ...NO_ROW, documents: "" } },
  "a document that is null": { $set: { documents: [null] }, $unset: NO_ROW },
  "a document of another type": { $set: { documents: ["CV"] }, $unset: NO_ROW },
  "documents of another type": { $set: { documents: "none" }, $unset: NO_ROW },
  "a document in an unknown state": {
    $set: { documents: [{ ...documentRecord(), metadata: "{}", state: "eaten" }] },
    $unset: NO_ROW,
  },
  "a date that is none": { $set: { created_at: "yesterday" }, $unset: NO_ROW },
  "a date of another type": { $set: { started_at: 1_795_000_000_000 }, $unset: NO_ROW },
  "a version of another type": { $set: { version: "seven" }, $unset: NO_ROW },
  "a number of another type": { $set: { docs_chase_attempts: "three" }, $unset: NO_ROW },
  "metadata that is cut off": { $set: { metadata: '{"desk":"Zebed' }, $unset: NO_ROW },
  "a reference without its members": { $set: { references: [{ id: "ref_1" }] }, $unset: NO_ROW },
  "reminders of another type": { $set: { outreach: { recipients: null } }, $unset: NO_ROW },
  "a deletion of another type": { $set: { erasure: { at: "2026-08-17T09:30:00.000Z" } }, $unset: NO_ROW },
  "a row of another type, too": { $set: { created_at: "yesterday", row: "{}" } },
  "a row that is no text, too": { $set: { created_at: "yesterday", row: { json: 5 } } },
  "a row that is cut off, too": { $set: { created_at: "yesterday", row: { json: '{"object":"cand' } } },
  "a row of a newer version, too": { $set: { created_at: "yesterday", row_form: 9_999 } },
};

describe("a candidate whose record is damaged", () => {
  useNoService();
  const service = useOwnService();
  const account = useAccount(service);
  const { client } = account;
  let candidates: Collection<Record<string, unknown> & { _id: string }>;
  before(() => {
    candidates = service.operators.mongo.db.collection("candidates");
  });

  async function create(more: object = {}): Promise<string> {
    return (await client.post("/candidates", { name: "Zebediah", documents: ["CV"], ...more })).body.id;
  }
  const damage = (_id: string, by: object) => candidates.updateOne({ _id }, by);
  const unreadable = (id: string) => ({ object: "candidate", id, unreadable: true });
  const counted = async () => (await scrape(service)).value("onboarding_unreadable_records");
  const lines = (id: string) =>
    service.log.filter(({ msg, candidate }) => msg === "a record cannot be read" && candidate === id);

  for (const [kind, how] of Object.entries(DAMAGES)) {
    it(`is a row in its place, cannot be read or changed, and can be deleted: ${kind}`, async () => {
      const ids = [await create(), await create(), await create()];
      const [first = "", id = "", last = ""] = ids;
      await damage(id, how);
      const page = (await client.get("/candidates")).body;
      expect(page.data[1]).to.deep.equal(unreadable(id));
      expect(page.data.map((row) => row.id)).to.deep.equal(ids);
      expect([page.data[0]?.name, page.data[2]?.name]).to.deep.equal(["Zebediah", "Zebediah"]);

      const path = `/candidates/${id}`;
      expectProblem(await client.get(path), 500, "internal_error");
      expectProblem(await client.patch(path, { name: "Ann" }), 500, "internal_error");
      expectProblem(await client.post(`${path}/start`, {}), 500, "internal_error");
      const failures = service.log.filter(({ status, msg }) => status === 500 && msg === "request failed").slice(-3);
      for (const { error } of failures) expect((error as { message: string }).message).to.include(id);
      expect(JSON.stringify(failures), "no personal data").not.to.include("Zebed");

      expect((await client.request("DELETE", path)).status).to.equal(204);
      expect((await client.get(path)).status).to.equal(410);
      const { data } = (await client.get("/candidates")).body;
      expect(data.map((row) => row.id)).to.deep.equal([first, last, id]);
      expect(data[2]).to.include({ deleted: true });
      expect(JSON.stringify(await candidates.findOne({ _id: id }))).not.to.include("Zebed");
    });
  }

  it("is passed by cursors and filters, and its page has an entity tag", async () => {
    const ids = [await create(), await create({ external_id: "ats-1" }), await create()];
    await damage(ids[1]!, DAMAGES["a date that is none"]!);
    const seen: string[] = [];
    for (let cursor = "", more = true; more;) {
      const { body } = await client.get(`/candidates?limit=1&cursor=${cursor}`);
      seen.push(...body.data.map((row) => row.id));
      [cursor, more] = [body.cursor, body.has_more];
    }
    expect(seen).to.deep.equal(ids);
    for (const filter of ["external_id=ats-1", "state=created&limit=2"])
      expect((await client.get(`/candidates?${filter}`)).body.data).to.deep.include(unreadable(ids[1]!));
    for (const [n, _id] of ids.entries()) await damage(_id, { $set: { change: `${feedPosition(n + 1)}.${_id}` } }); // long ago
    const { headers } = await client.get("/candidates");
    const again = await client.get("/candidates", { "If-None-Match": headers.get("etag") ?? "" });
    expect(again.status).to.equal(304);
  });

  it("is shown as it was last written as long as the row that was stored then is whole", async () => {
    const id = await create();
    await damage(id, { $set: { created_at: "yesterday" } });
    expect((await client.get("/candidates")).body.data[0]).to.include({ id, name: "Zebediah" });
  });

  it("is rendered again if only its stored row is damaged", async () => {
    const id = await create();
    for (const row of ["{}", { json: 5 }, { json: "cut of" }, null]) {
      await damage(id, { $set: { row } });
      expect((await client.get("/candidates")).body.data[0]).to.include({ id, name: "Zebediah" });
    }
  });

  it("is logged and counted once, until it is read after its repair or deletion", async () => {
    const ids = [await create(), await create()];
    const before = (await counted()) ?? 0;
    for (const id of ids) {
      await damage(id, DAMAGES["a date that is none"]!);
      for (let n = 0; n < 3; n++) await client.get(`/candidates/${id}`);
      await client.get("/candidates");
      expect(lines(id)[0]).to.include({
        account: account.id,
        reason: "/created_at must be a timestamp with an offset, for example 2026-08-17T09:30:00.000Z",
      });
    }
    expect(await counted()).to.equal(before + 2);
    await damage(ids[0]!, { $set: { created_at: "2026-08-17T09:30:00.000Z" } });
    expect((await client.request("DELETE", `/candidates/${ids[1]}`)).status).to.equal(204);
    for (const id of ids) await client.get(`/candidates/${id}`);
    expect(await counted()).to.equal(before);
    expect(ids.map((id) => lines(id).length)).to.deep.equal([1, 1]);
  });

  it("leaves nothing behind when it is deleted: files, lookups, stored responses", async () => {
    const key = { "Idempotency-Key": "k" };
    const content = { filename: "cv.pdf", content_type: "application/pdf", data: "Q1Y=" };
    const given = {
      name: "Zebediah",
      documents: [{ name: "CV", content }, "Passport"],
      references: [{ name: "Philippa" }],
    };
    const { id, references } = (await client.post("/candidates", given, key)).body;
    const { documents } = (await candidates.findOne({ _id: id })) as unknown as { documents: object[] };
    await damage(id, { $set: { documents: [documents[0], { ...documents[1], state: "eaten" }] }, $unset: NO_ROW });
    const { db } = service.operators.mongo;
    const files = () => db.collection("content.files").find({}).toArray();
    const lookups = () => db.collection<{ _id: string }>("reference_index").find({ _id: references[0]!.id }).toArray();
    const [before] = [await files()];
    expect(await lookups()).to.have.length(1);
    const held = await client.request("DELETE", `/candidates/${id}`, { headers: { "If-Match": '"of a version"' } });
    expectProblem(held, 412, "version_mismatch");
    expect((await client.request("DELETE", `/candidates/${id}`)).status).to.equal(204);
    expect(before.length - (await files()).length).to.equal(1);
    expect(await lookups()).to.have.length(0);
    expectProblem(await client.post("/candidates", given, key), 410, "candidate_deleted");
    const [audited] = await db.collection("audit").find({ subject: id }).toArray();
    expect(audited).to.include({ action: "candidates delete", actor: account.keyId });
  });

  it("can be a tombstone, and another deletion then repairs it", async () => {
    const id = await create();
    await client.request("DELETE", `/candidates/${id}`);
    await damage(id, { $unset: { version: "" } });
    expect((await client.get("/candidates")).body.data).to.deep.equal([unreadable(id)]);
    expect((await client.request("DELETE", `/candidates/${id}`)).status).to.equal(204);
    expect((await client.get("/candidates")).body.data[0]).to.include({ id, deleted: true, version: 1 });
  });

  it("holds up no expiry of others, however many are damaged", async () => {
    const store = new CandidateStore(service.operators.mongo, new SharedClock());
    const due: string[] = [];
    for (let n = 0; n < 101; n++)
      due.push((await store.insert(candidateWithExpiry(account.id, "2090-01-30"), author())).id);
    const { id } = await store.insert(candidateWithExpiry(account.id, "2090-01-31"), author());
    await candidates.updateMany({ _id: { $in: due } }, { $set: { created_at: "yesterday" } });
    const now = () => Date.parse("2090-02-01T00:00:00.000Z");
    const signal = new AbortController().signal;
    for (let passes = 0; passes < 3; passes++) await expiries(store.batches, { now }).run(signal);
    expect((await client.get(`/candidates/${id}`)).body.state).to.equal("action_required");
    await candidates.deleteMany({ _id: { $in: due } });
  });

  it("stops no mirror, which keeps what it has", async () => {
    const ids = [await create(), await create()];
    await damage(ids[0]!, DAMAGES["metadata that is cut off"]!);
    const mirror = new Mirror(async ({ cursor = "" }) => (await client.get(`/candidates?cursor=${cursor}`)).body, {});
    const pages = [];
    for await (const page of mirror.pages()) pages.push(page);
    expect(pages.flatMap(({ rows }) => rows.map((row) => row.id))).to.deep.equal([ids[1]]);
    expect(pages.flatMap((page) => page.unreadable)).to.deep.equal([ids[0]]);
  });

  it("belongs to its account alone", async () => {
    const id = await create();
    await damage(id, DAMAGES["a date that is none"]!);
    const other = await service.account();
    expectProblem(await other.client.get(`/candidates/${id}`), 404, "not_found");
    expectProblem(await other.client.request("DELETE", `/candidates/${id}`), 404, "not_found");
    expect((await other.client.get("/candidates")).body.data).to.deep.equal([]);
  });
});
