import { createHash } from "node:crypto";
import { mock } from "node:test";
import { expect } from "chai";
import { type AuditRecord, hashOf } from "../../src/audit/entry.ts";
import { AuditStore } from "../../src/audit/store.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { admin, answerOf, complaintOf, mistakeOf, serversOf } from "../admin/support.ts";
import { until } from "../erasure/support.ts";
import { useService } from "../support/use-service.ts";
import { eventOf } from "./support.ts";

type Line = Record<string, unknown> & { id: string; at: string; action: string; hash: string };

describe("the audit", () => {
  const service = useService();
  /** An export or a verification takes two seconds more than this. */
  const env = () => ({ ...serversOf(service.config), ADMIN_ACTOR: "ann", STORE_TIMEOUT_MS: "1000" });
  const collection = () => service.operators.mongo.db.collection<AuditRecord>("audit");

  async function exported(...options: string[]): Promise<Line[]> {
    const { code, stdout, stderr } = await admin(["audit", "export", ...options], env());
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    const lines = stdout.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Line);
  }
  /** Returns the id of an account with entries from 1 to 6. */
  async function chain(): Promise<{ account: string; ids: string[] }> {
    const account = newTypeId("acct");
    let now = Date.now() - 10_000;
    const store = new AuditStore(service.operators.mongo, { now: () => (now += 10) });
    for (let n = 0; n < 6; n++) await store.append([eventOf(account)]);
    return { account, ids: (await collection().find({ account }).sort({ seq: 1 }).toArray()).map(({ _id }) => _id) };
  }

  it("has the time of MongoDB's clock, whatever a command's machine shows", async () => {
    const account = await service.account();
    const before = await exported("--account", account.id);
    const realMs = Date.now();
    mock.timers.enable({ apis: ["Date"], now: realMs + 7_200_000 });
    try {
      await answerOf(["keys", "create", "--account", account.id, "--name", "Late"], env());
    } finally {
      mock.timers.reset();
    }
    const added = (await exported("--account", account.id)).slice(before.length);
    expect(added, "the change and its end").to.have.length(2);
    for (const { at } of added) expect(Date.parse(at) - realMs).to.be.within(-5_000, 60_000);
  });

  it("is exported oldest first, each line with its hash and that of the line before it", async () => {
    const { id, client, keyId } = await service.account();
    const { body } = await client.post("/candidates", { name: "Ada", documents: [{ name: "Passport" }] });
    const document = body.documents[0]!;
    await client.request("DELETE", `/candidates/${body.id}/documents/${document.id}`);
    await client.request("DELETE", `/candidates/${body.id}`);
    await until(async () => (await service.operators.audit.list(10, id)).data.length === 4);
    const lines = await exported("--account", id);
    expect(lines.map(({ action, outcome, subject }) => [action, outcome, subject])).to.deep.equal([
      ["accounts create", null, id],
      ["accounts create", "done", id],
      ["keys create", null, keyId],
      ["keys create", "done", keyId],
      ["documents delete", "done", document.id],
      ["candidates delete", "done", body.id],
    ]);
    const [begun, ended] = lines;
    expect(ended).to.include({ of: begun!.id, previous: begun!.hash });
    expect(lines.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5, 6]);
    const deletions = lines.slice(4).map(({ details }) => Object.keys(details as object));
    expect(deletions).to.deep.equal([["candidate", "deleted_at"], ["deleted_at"]]);
    for (const { hash, ...line } of lines)
      expect(createHash("sha256").update(JSON.stringify(line)).digest("hex")).to.equal(hash);

    expect(await exported("--account", id, "--after", lines[3]!.id)).to.deep.equal(lines.slice(4));
    expect(await exported("--account", id, "--cursor", lines[3]!.id)).to.deep.equal(lines.slice(4));
    const between = ["--since", lines[4]!.at, "--until", new Date(Date.parse(lines[5]!.at) + 1).toISOString()];
    expect(await exported("--account", id, ...between)).to.deep.equal(lines.slice(4));
    expect(await exported("--account", id, "--until", lines[0]!.at)).to.deep.equal([]);
    expect((await exported("--since", lines[0]!.at)).map(({ id: entry }) => entry)).to.include(lines[5]!.id);
  });

  it("prints at its end what was being written when it began", async () => {
    const { account } = await chain();
    const slow = new AuditStore(service.operators.mongo, { now: () => Date.now() - 500 });
    const [lines] = await Promise.all([exported("--account", account), slow.append([eventOf(account)])]);
    expect(lines).to.have.length(7);
  });

  it("is exported and verified for an account that is erased, and not for one that never was", async () => {
    const { account } = await chain();
    expect(await exported("--account", account)).to.have.length(6);
    for (const command of ["export", "tail", "verify"])
      expect(await complaintOf(["audit", command, "--account", "acct_nobody"], env())).to.match(/acct_nobody/);
  });

  it("names the option that has a wrong value", async () => {
    const time = "must be a time in RFC 3339, for example 2026-11-28T03:00:00Z.";
    for (const option of ["since", "until"])
      for (const wrong of ["yesterday", "2026-11-28", "2026-13-28T03:00:00Z"])
        expect(await mistakeOf(["audit", "export", `--${option}`, wrong], env())).to.equal(`/${option} ${time}`);
    for (const option of ["after", "cursor"])
      expect(await mistakeOf(["audit", "export", `--${option}`, "audit_1"], env())).to.equal(
        "/after must be the id of an entry of the audit.",
      );
  });

  it("is verified, and says how many entries an earlier release wrote", async () => {
    const { account } = await chain();
    const { of: _of, outcome: _outcome, reason: _reason, ...old } = eventOf(account);
    const at = "2026-11-21T09:00:00.000Z";
    await service.operators.mongo.db
      .collection<Partial<AuditRecord> & { _id: string }>("audit")
      .insertOne({ ...old, at });
    expect(await answerOf(["audit", "verify", "--account", account], env())).to.deep.equal({
      object: "audit_verification",
      entries: 7,
      not_chained: 1,
      last_not_chained_at: at,
      misfit: null,
    });
    const all = (await answerOf(["audit", "verify"], env())) as { entries: number; misfit: null };
    expect(all.misfit).to.equal(null);
    expect(all.entries).to.be.above(7);
  });

  type Tamper = (ids: string[]) => Promise<unknown>;
  const set = (id: string, change: object) => collection().updateOne({ _id: id }, { $set: change });
  const tampered: Record<string, [Tamper, misfit: number, why: RegExp]> = {
    "an entry that was changed": [(ids) => set(ids[2]!, { actor: "bob" }), 2, /changed/],
    "the newest entry, if it was changed": [(ids) => set(ids[5]!, { details: { reason: "none" } }), 5, /changed/],
    "an entry that was moved in time": [(ids) => set(ids[2]!, { at: "2026-11-21T09:00:00.000Z" }), 2, /changed/],
    "a gap": [(ids) => collection().deleteOne({ _id: ids[2]! }), 3, /seq is 4, and that of the entry before it is 2/],
    "a gap that was closed": [
      async (ids) => {
        await collection().deleteOne({ _id: ids[2]! });
        for (const n of [3, 4, 5]) await set(ids[n]!, { seq: n });
      },
      3,
      /changed/,
    ],
    "an entry whose chain was cut off": [
      (ids) => collection().updateOne({ _id: ids[5]! }, { $unset: { seq: "", previous: "", hash: "" } }),
      5,
      /changed/,
    ],
    "an entry that was changed, with a hash to match": [
      async (ids) => {
        const entry = { ...(await collection().findOne({ _id: ids[2]! }))!, actor: "bob" };
        await set(ids[2]!, { actor: "bob", hash: hashOf(entry) });
      },
      3,
      /previous/,
    ],
    "two entries that were exchanged": [
      async (ids) => {
        await set(ids[1]!, { seq: 99 });
        await set(ids[2]!, { seq: 2 });
        await set(ids[1]!, { seq: 3 });
      },
      1,
      /changed/,
    ],
  };
  it("names the first entry that does not fit", async () => {
    const cases = Object.entries(tampered).map(async ([what, [tamper, misfit, why]]) => {
      const { account, ids } = await chain();
      await tamper(ids);
      const { code, stdout, stderr } = await admin(["audit", "verify", "--account", account], env());
      const found = JSON.parse(stdout) as { misfit: { id: string; account_id: string; why: string } };
      expect(code, what).to.equal(1);
      expect(found.misfit, what).to.include({ id: ids[misfit], account_id: account });
      expect(found.misfit.why, what).to.match(why);
      expect(stderr).to.match(new RegExp(`^The entry ${ids[misfit]} of ${account} does not fit: .+\\.\n$`));
    });
    await Promise.all(cases);
  });

  it("names an entry without details, which the export has all the same", async () => {
    const { account, ids } = await chain();
    await collection().updateOne({ _id: ids[2]! }, { $unset: { details: "" } });
    const { code, stderr } = await admin(["audit", "verify", "--account", account], env());
    expect(code).to.equal(1);
    expect(stderr).to.contain(`${ids[2]} of ${account}`);
    expect((await exported("--account", account)).map(({ id }) => id)).to.deep.equal(ids);
  });

  it("names an entry that was inserted with a hash of its own", async () => {
    const { account, ids } = await chain();
    const [first] = await collection().find({ _id: ids[0]! }).toArray();
    const other = newTypeId("acct");
    const store = new AuditStore(service.operators.mongo, { now: () => Date.parse(first!.at) });
    for (let n = 0; n < 7; n++) await store.append([eventOf(other)]);
    await collection().deleteMany({ account: other, seq: { $lt: 7 } });
    await collection().updateOne({ account: other }, { $set: { account } });
    const { stdout } = await admin(["audit", "verify", "--account", account], env());
    const [inserted] = await collection().find({ account, seq: 7 }).toArray();
    expect((JSON.parse(stdout) as { misfit: { id: string } }).misfit.id).to.equal(inserted!._id);
  });
});

describe("reads of personal data", () => {
  const service = useService();
  const BYTES = Buffer.from("the passport, page after page");

  async function readsOf(account: string) {
    const { data } = await service.operators.audit.list(100, account);
    const reads = data.filter(({ action }) => action.endsWith(".read"));
    return reads.map(({ action, subject, actor, details, outcome }) => ({ action, subject, actor, details, outcome }));
  }

  it("are in the audit once for a key, an object and an hour, with the key", async () => {
    const reader = await service.account();
    const { id: account, client, keyId } = reader;
    const candidate = (await client.post("/candidates", { name: "Ada", documents: [{ name: "Passport" }] })).body;
    const document = candidate.documents[0]!.id;
    const content = `/candidates/${candidate.id}/documents/${document}/content`;
    await client.request("PUT", content, { headers: { "Content-Type": "text/plain" }, body: BYTES });
    const pack = `/candidates/${candidate.id}/pack`;
    await client.request("HEAD", content);
    await client.get(`/candidates/${candidate.id}/documents/${document}`);
    expect((await client.get(`${content}x`)).status).to.equal(404);
    const began = new Date().toISOString();
    const { headers } = await client.get(content);
    const other = await reader.another();
    await Promise.all([client.get(content), client.get(content, { Range: "bytes=0-3" }), client.get(pack)]);
    expect((await other.client.get(content, { Range: "bytes=0-3" })).status).to.equal(206);
    await until(async () => (await readsOf(account)).length === 3);
    const read = (action: string, subject: string, actor: string) => ({ action, subject, actor, outcome: "done" });
    const found = await readsOf(account);
    expect(found.map(({ details: _details, ...rest }) => rest)).to.have.deep.members([
      read("document.read", document, keyId),
      read("document.read", document, other.keyId),
      read("pack.read", candidate.id, keyId),
    ]);
    for (const { details } of found) {
      expect(details).to.include({ candidate: candidate.id });
      expect(String(details["read_at"]) >= began).to.equal(true);
    }
    const third = await reader.another();
    expect((await third.client.get(content, { "If-None-Match": headers.get("etag")! })).status).to.equal(304);
    await third.client.get(`${pack}?format=json`);
    expect((await third.client.get(`${pack}?format=zip`)).status).to.equal(200);
    await until(async () => (await readsOf(account)).length === 5);
    const latest = (await readsOf(account)).slice(0, 2).map(({ details: _details, ...rest }) => rest);
    expect(latest).to.have.deep.members([
      read("pack.read", candidate.id, third.keyId),
      read("document.read", document, third.keyId), // it is in the ZIP
    ]);
  });
});
