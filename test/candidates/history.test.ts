import { expect } from "chai";
import type { HistoryEntry } from "../../src/candidates/history-schema.ts";
import type { Candidate } from "../../src/candidates/schema.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

/** What tests compare of an entry: the subject by its kind. */
function toldBy({ action, subject, from, to, fields }: HistoryEntry) {
  return [action, subject.split("_")[0], from, to, fields.join()].join(" ");
}

describe("GET /candidates/{id}/history", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;

  async function created(body: object): Promise<Candidate> {
    const { body: candidate } = await client.post("/candidates", body);
    return candidate as unknown as Candidate;
  }

  async function pages(id: string, limit: number) {
    const all: HistoryEntry[][] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { body } = await client.get(`/candidates/${id}/history?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      const page = body as unknown as { data: HistoryEntry[]; has_more: boolean; cursor: string | null };
      expect(page.has_more).to.equal(page.cursor !== null);
      all.push(page.data);
      ({ cursor } = page);
    }
    return all;
  }

  it("tells the life of a candidate, the newest first, with who did what when", async () => {
    const { id, documents, references } = await created({
      name: "Ada",
      documents: ["CV", "ID"],
      references: [{ name: "Bo", email: "bo@example.com" }],
    });
    const path = `/candidates/${id}`;
    const cv = `${path}/documents/${documents[0]?.id}`;
    await client.patch(path, { name: "Ada L", metadata: { a: "b" }, start_date: "2027-01-01" });
    await client.patch(`${path}/outreach`, { docs_chase_attempts: 5 });
    await client.post(`${path}/start`);
    await client.request("PUT", `${cv}/content`, {
      body: Buffer.from("cv"),
      headers: { "Content-Type": "text/plain" },
    });
    await client.patch(cv, { state: "rejected", rejection_reason: "blurred" });
    await client.patch(cv, { required: false });
    await client.request("DELETE", cv);
    await client.patch(`/references/${references[0]?.id}`, { state: "received", response: { ok: true } });
    await client.patch(path, { withdrawn: true, withdrawal_reason: "left" });
    await client.patch(path, { withdrawn: false });
    await client.patch(path, { hold: { reason: "dispute" } });
    const { body } = await client.patch(path, { hold: null });
    const [entries = []] = await pages(id, 100);
    expect(entries.map(toldBy)).to.deep.equal([
      "hold_lifted cand   ",
      "hold_set cand   ",
      "reinstated cand withdrawn in_progress withdrawal_reason",
      "withdrawn cand in_progress withdrawn withdrawal_reason",
      "state_changed ref requested received response",
      "removed doc rejected  ",
      "content_removed doc   ",
      "state_changed cand action_required in_progress ",
      "updated doc   required",
      "state_changed cand in_progress action_required ",
      "state_changed doc received rejected rejection_reason",
      "state_changed doc requested received ",
      "content_stored doc   ",
      "state_changed ref not_requested requested ",
      "state_changed doc pending requested ",
      "state_changed doc pending requested ",
      "started cand created in_progress ",
      "updated cand 3 5 docs_chase_attempts",
      "updated cand   name,start_date,metadata",
      "created cand  created ",
    ]);
    expect(new Set(entries.map(({ by }) => `${by.type} ${by.id}`))).to.deep.equal(new Set([`key ${account.keyId}`]));
    expect(entries[0]?.at).to.equal(body.updated_at);
    expect(entries.map(({ at }) => at)).to.deep.equal(
      entries
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    for (const value of ["Ada", "2027", "blurred", "dispute", "left", "bo@"])
      expect(JSON.stringify(entries)).not.to.contain(value);
    expect(await account.used()).to.include({ reads: 1 });
  });

  it("keeps what no longer fits into the record, and is erased with the person", async () => {
    const names = Array.from({ length: 150 }, (_, n) => `Document ${n}`);
    const { id } = await created({ documents: names, references: Array.from({ length: 50 }, () => ({})) });
    const path = `/candidates/${id}`;
    await client.post(`${path}/start`);
    await client.patch(`${path}/outreach`, { docs_chase_attempts: 7 });
    for (let n = 0; n < 38; n++) await client.patch(path, { name: `Name ${n}` });
    const { db } = service.operators.mongo;
    const count = async () => (await db.collection("history").find({ account: account.id }).toArray()).length;
    expect(await count(), "they fit").to.equal(0);
    await client.patch(path, { job_title: "the 242nd" });
    expect(await count(), "they have moved").to.equal(1);
    const record = await db.collection("candidates").findOne({ account: account.id, external_id: null });
    expect(record?.history).to.include({ moved: 100, count: 242 });
    const all = (await pages(id, 60)).flat();
    expect(all).to.have.length(242);
    expect((await pages(id, 100)).flat(), "whatever the size of the page").to.deep.equal(all);
    const started = all.filter(({ from }) => from === "pending" || from === "not_requested");
    expect(new Set(started.map(({ subject }) => subject)).size, "each once").to.equal(200);
    expect(toldBy(all.at(-1)!)).to.equal("created cand  created ");
    const { body: page } = await client.get(`${path}/history?limit=100`);
    await client.patch(path, { name: "meanwhile" });
    const { body: next } = await client.get(`${path}/history?limit=100&cursor=${page.cursor}`);
    expect(next.data, "a change meanwhile moves nothing").to.deep.equal(all.slice(100, 200));
    await client.request("DELETE", path);
    expect(await count(), "nothing is left of it").to.equal(0);
    expectProblem(await client.get(`${path}/history`), 410, "candidate_deleted");
  });

  it("has more than the pack, which shows the latest 5,000 entries", async () => {
    const { id } = await created({});
    const { db } = service.operators.mongo;
    const entry = (n: number) => `["2026-11-20T10:11:12.345Z","key","key_1","updated","${n}",null,null,["name"]]\n`;
    const lines = Array.from({ length: 6_000 }, (_, n) => entry(n)).join("");
    await db
      .collection("candidates")
      .updateOne({ account: account.id }, { $set: { history: { moved: 0, count: 6_000, lines } } });
    const { body } = await client.get(`/candidates/${id}/pack?format=json`);
    const { history } = body as unknown as { history: HistoryEntry[] };
    expect([history.length, history[0]?.subject, history.at(-1)?.subject]).to.deep.equal([5_000, "5999", "1000"]);
    const oldest = (await client.get(`/candidates/${id}/history?cursor=2`)).body.data as unknown as HistoryEntry[];
    expect(oldest.map(({ subject }) => subject)).to.deep.equal(["0"]);
  });

  it("is nobody else's, and refuses wrong pages", async () => {
    const { id } = await created({});
    for (const query of ["limit=0", "limit=101", "limit=x", "cursor=0", "cursor=x", "cursor=1234567890"])
      expectProblem(await client.get(`/candidates/${id}/history?${query}`), 400, "invalid_query");
    const other = await service.account();
    expectProblem(await other.client.get(`/candidates/${id}/history`), 404, "not_found");
    const { body } = await client.get(`/candidates/${id}/history?cursor=1`);
    expect(body).to.deep.equal({ object: "list", data: [], has_more: false, cursor: null });
  });
});

describe("decided", () => {
  const account = useAccount();
  const { client } = account;

  it("says who brought a document or reference into its state, and since when", async () => {
    const given = { documents: ["CV", { name: "ID", state: "accepted" }], references: [{ name: "Bo" }] };
    const { body } = await client.post("/candidates", given);
    const { id, documents, references } = body as unknown as Candidate;
    const by = { type: "key", id: account.keyId };
    expect(documents.map(({ decided }) => decided)).to.deep.equal([
      null,
      { state: "accepted", at: body.created_at, by, decided_by: null },
    ]);
    const path = `/candidates/${id}/documents/${documents[0]?.id}`;
    const accepted = await client.patch(path, { state: "accepted", decided_by: "Noor" });
    expect(accepted.body.decided).to.deep.equal({
      state: "accepted",
      at: accepted.body.updated_at,
      by,
      decided_by: "Noor",
    });
    const again = await client.patch(path, { state: "accepted", decided_by: "Noor" });
    expect(again.body, "a retry decides nothing anew").to.deep.equal(accepted.body);
    const renamed = await client.patch(path, { name: "Curriculum" });
    expect(renamed.body.decided, "nor does another field").to.deep.equal(accepted.body.decided);
    const corrected = await client.patch(path, { decided_by: "Sam" });
    const kept = { ...(accepted.body as unknown as Candidate["documents"][number]).decided, decided_by: "Sam" };
    expect(corrected.body.decided, "who moved it, and when, stays").to.deep.equal(kept);
    const reopened = await client.patch(path, { state: "pending" });
    expect(reopened.body.decided, "it is open again").to.equal(null);
    const later = await client.patch(path, { state: "waived" });
    expect(later.body.decided, "whoever decided before is forgotten").to.deep.include({
      state: "waived",
      decided_by: null,
    });
    const answered = await client.patch(`/references/${references[0]?.id}`, { state: "declined", decided_by: "Bo" });
    expect(answered.body.decided).to.deep.include({ state: "declined", by, decided_by: "Bo" });
    const { body: whole } = await client.get(`/candidates/${id}`);
    const [row] = (await client.get("/candidates")).body.data;
    expect(row, "in the list").to.deep.equal(whole);
    expect((whole as unknown as Candidate).documents[0]?.decided).to.deep.equal(later.body.decided);
  });

  it("takes no decided_by where nothing is decided", async () => {
    const { body } = await client.post("/candidates", { documents: ["CV"] });
    const path = `/candidates/${body.id}/documents/${body.documents[0]?.id}`;
    for (const [patch, pointer] of [
      [{ decided_by: "Noor" }, "/decided_by"],
      [{ state: "pending", decided_by: "Noor" }, "/decided_by"],
      [{ state: "accepted", decided_by: "x".repeat(201) }, "/decided_by"],
      [{ decided: null }, "/decided"],
    ] as const) {
      const { errors } = expectProblem(await client.patch(path, patch), 422, "validation_failed");
      expect(errors[0]?.pointer).to.equal(pointer);
    }
    expect((await client.patch(path, { decided_by: null })).body.decided).to.equal(null);
    const given = { documents: [{ name: "CV", decided_by: "Noor" }], references: [{ decided_by: "Noor" }] };
    const { errors } = expectProblem(await client.post("/candidates", given), 422, "validation_failed");
    const hints = JSON.stringify(errors);
    expect(hints).to.contain("PATCH /candidates/{id}/documents/{docId}").and.to.contain("PATCH /references/{id}");
  });

  it("notes that decided_by was sent, alone or with another field", async () => {
    const { body } = await client.post("/candidates", { documents: [{ name: "CV", state: "accepted" }] });
    const path = `/candidates/${body.id}/documents/${body.documents[0]?.id}`;
    await client.patch(path, { decided_by: "Noor" });
    await client.patch(path, { name: "ID", decided_by: "Sam" });
    await client.patch(path, { state: "waived", decided_by: "Sam" });
    const { data } = (await client.get(`/candidates/${body.id}/history?cursor=&limit=3`)).body;
    expect(data).to.have.length(3);
    expect((data as unknown as { fields: string[] }[]).map(({ fields }) => fields)).to.deep.equal([
      ["decided_by"],
      ["name", "decided_by"],
      ["decided_by"],
    ]);
  });
});
