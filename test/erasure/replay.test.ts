import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Stored } from "../../src/candidates/stored.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { admin, answerOf, mistakeOf, serversOf } from "../admin/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { createPerson, filesIn, tracesIn } from "./support.ts";

interface Report {
  lines: number;
  erased: number;
  already_erased: number;
  not_there: number;
  on_hold: string[];
  failed: { line: number; reason: string }[];
}

const EPOCH = "1970-01-01T00:00:00Z";

describe("erasures export and replay", function () {
  this.timeout(30_000);
  const service = useService({ LIMIT_SCALE: 100 });
  const account = useAccount(service);
  const { client } = account;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "replay-"));
  });
  after(() => rm(folder, { recursive: true }));

  const env = () => ({ ...serversOf(service.config), ADMIN_ACTOR: "ann" });
  const candidates = () => service.operators.mongo.db.collection<Stored>("candidates");

  async function exported(since = EPOCH): Promise<Record<string, unknown>[]> {
    const { code, stdout, stderr } = await admin(["erasures", "export", "--since", since], env());
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    const lines = stdout.split("\n").filter((line) => line !== "");
    const all = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    return all.filter((line) => line.account === account.id);
  }

  async function fileOf(lines: readonly (object | string)[]): Promise<string> {
    const file = join(folder, "erasures.ndjson");
    await writeFile(file, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
    return file;
  }

  async function replay(
    lines: readonly (object | string)[],
  ): Promise<{ code: number; report: Report; stderr: string }> {
    const { code, stdout, stderr } = await admin(["erasures", "replay", await fileOf(lines), "--yes"], env());
    return { code, stderr, report: JSON.parse(stdout) as Report };
  }

  const NOTHING = { object: "erasure_replay", erased: 0, already_erased: 0, not_there: 0, on_hold: [], failed: [] };

  it("bring back to nothing whom a restore brought back, once", async () => {
    const { path, created } = await createPerson(client);
    const stored = await candidates().findOne({ _id: created.id });
    expect((await client.request("DELETE", path)).status).to.equal(204);
    const lines = await exported();
    expect(lines).to.have.length(1);
    expect(lines[0]).to.have.all.keys("account", "candidate", "at");
    expect(lines[0]).to.include({ account: account.id, candidate: created.id });

    await candidates().replaceOne({ _id: created.id }, stored!);
    expect((await client.get(path)).status).to.equal(200);
    expect(await replay(lines)).to.deep.include({ code: 0, report: { ...NOTHING, lines: 1, erased: 1 } });
    expectProblem(await client.get(path), 410, "candidate_deleted");
    expect(await tracesIn(service.operators.mongo)).to.deep.equal([]);
    const { version } = (await candidates().findOne({ _id: created.id }))!;
    expect((await replay(lines)).report).to.deep.equal({ ...NOTHING, lines: 1, already_erased: 1 });
    expect((await candidates().findOne({ _id: created.id }))?.version, "it is read, and not written").to.equal(version);
  });

  it("remove a document and a reference again, with their bytes, and leave the candidate", async () => {
    const { path, created, document, reference } = await createPerson(client);
    const stored = await candidates().findOne({ _id: created.id });
    for (const part of [document, reference]) expect((await client.request("DELETE", part)).status).to.equal(204);
    const lines = await exported();
    expect(lines.map(({ document: id, reference: other }) => id ?? other)).to.deep.equal(
      [document, reference].map((part) => part.split("/").at(-1)),
    );

    await candidates().replaceOne({ _id: created.id }, stored!);
    const index = service.operators.mongo.db.collection<{ _id: string }>("reference_index");
    const entry = { _id: reference.split("/").at(-1)!, account: account.id, candidate: created.id };
    await index.insertOne(entry);
    const named = lines.map((line) => ({ ...line, candidate: created.id }));
    expect((await replay(named)).report).to.deep.equal({ ...NOTHING, lines: 2, erased: 2 });
    for (const part of [document, reference]) expectProblem(await client.get(part), 404, "not_found");
    expect((await client.get(path)).body.documents).to.deep.equal([]);
    expect(await filesIn(service.operators.mongo)).to.deep.equal([]);
    expect((await replay(named)).report).to.deep.equal({ ...NOTHING, lines: 2, not_there: 2 });
    await client.request("DELETE", path);
  });

  it("leave a tombstone of a candidate that the backup does not have, for mirrors that have it", async () => {
    const id = newTypeId("cand");
    const { cursor } = (await client.get("/candidates")).body;
    const lines = [{ account: account.id, candidate: id, at: EPOCH }];
    expect((await replay(lines)).report).to.deep.equal({ ...NOTHING, lines: 1, not_there: 1 });
    expectProblem(await client.get(`/candidates/${id}`), 410, "candidate_deleted");
    const { data } = (await client.get(`/candidates?cursor=${cursor}`)).body;
    expect(data.map((row) => [row.id, "deleted" in row])).to.deep.equal([[id, true]]);
    expect(await exported()).to.have.length(1);
    expect((await replay(lines)).report).to.deep.equal({ ...NOTHING, lines: 1, already_erased: 1 });
  });

  it("list an erasure that is not finished, in its place", async () => {
    const [one, other] = [await client.post("/candidates", {}), await client.post("/candidates", {})];
    for (const { body } of [one, other]) await client.request("DELETE", `/candidates/${body.id}`);
    const [first, second] = await exported();
    for (const [{ body }, line] of [
      [one, first],
      [other, second],
    ] as const) {
      const deletion = { kind: "candidates", id: body.id, key: account.keyId, at: line!.at };
      const erasure = { at: line!.at, deletions: [deletion], files: [], references: [] };
      await candidates().updateOne({ _id: body.id }, { $set: { erasure } } as object);
      await service.operators.mongo.db.collection<{ _id: string }>("audit").deleteOne({ _id: `audit_${body.id}` });
      expect(await exported()).to.deep.equal([first, second]);
    }
    expect((await replay([first!])).report, "it is finished").to.deep.equal({ ...NOTHING, lines: 1, erased: 1 });
    expect(await candidates().findOne({ _id: one.body.id })).not.to.have.property("erasure");
  });

  it("name a bad line by its number, and replay the others", async () => {
    const [own, alien] = [
      await client.post("/candidates", {}),
      await (await service.account()).client.post("/candidates"),
    ];
    const line = { account: account.id, candidate: own.body.id, at: EPOCH };
    const { code, stderr, report } = await replay([
      "",
      "not JSON",
      { ...line, candidate: alien.body.id },
      { ...line, candidate: "cand_1" },
      { ...line, candidat: own.body.id },
      { ...line, account: newTypeId("acct"), candidate: newTypeId("cand") },
      { account: account.id, candidate: null, document: newTypeId("doc"), at: EPOCH },
      { account: account.id, document: newTypeId("doc"), at: EPOCH },
      { account: account.id, candidate: null, at: EPOCH },
      line,
    ]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^4 of 9 lines failed/);
    const { failed, ...counts } = report;
    expect(failed.map((each) => each.line)).to.deep.equal([2, 3, 4, 5]);
    expect(failed[1]?.reason).to.equal(`Candidate ${alien.body.id} belongs to another account.`);
    expect(counts).to.deep.include({ lines: 9, erased: 1, not_there: 4 });
    expectProblem(await client.get(`/candidates/${own.body.id}`), 410, "candidate_deleted");
    expect(await answerOf(["accounts", "show", account.id], env())).to.include({ status: "active" });
  });

  it("pass by who is under a hold, and name them, unless --despite-holds", async () => {
    const { body } = await client.post("/candidates", { documents: ["CV"] });
    await client.patch(`/candidates/${body.id}`, { hold: { reason: "litigation" } });
    const line = { account: account.id, candidate: body.id, at: EPOCH };
    const lines = [{ ...line, document: body.documents[0]!.id }, line];
    const { code, stderr, report } = await replay(lines);
    expect([code, stderr]).to.deep.equal([
      1,
      "2 are under a hold and stay: see `on_hold`, or add --despite-holds. The others are replayed.\n",
    ]);
    expect(report).to.deep.equal({ ...NOTHING, lines: 2, on_hold: [body.id, body.id] });
    expect((await client.get(`/candidates/${body.id}`)).body.documents).to.have.length(1);
    const file = await fileOf(lines);
    const second = await answerOf(["erasures", "replay", file, "--yes", "--despite-holds"], env());
    expect(second).to.deep.include({ on_hold: [], failed: [] });
    expectProblem(await client.get(`/candidates/${body.id}`), 410, "candidate_deleted");
  });

  it("refuse what is no time, no file of lines, and no consent", async () => {
    expect(await mistakeOf(["erasures", "export", "--since", "yesterday"], env())).to.match(
      /since must be a time in RFC 3339/,
    );
    const { body } = await client.post("/candidates", {});
    const file = await fileOf([{ account: account.id, candidate: body.id, at: EPOCH }]);
    expect(await mistakeOf(["erasures", "replay", file], env())).to.match(/needs --yes/);
    expect((await client.get(`/candidates/${body.id}`)).status).to.equal(200);
    const replayed = async (name: string) => mistakeOf(["erasures", "replay", name, "--yes"], env());
    expect(await replayed(await fileOf(["", "id,name"]))).to.match(
      /is not what `erasures export` prints: line 2: .*JSON/,
    );
    expect(await replayed(await fileOf([{ account: account.id, candidate: "cand_1", at: EPOCH }]))).to.match(
      /candidate must be an id that begins with cand_/,
    );
    const empty = await admin(["erasures", "replay", await fileOf([""]), "--yes"], env());
    expect(empty.code).to.equal(0);
    expect(empty.stderr).to.match(/has no lines: nobody was erased since the backup, or the export failed/);
    const others = Array.from({ length: 101 }, () => "other");
    expect(await replayed(await fileOf([JSON.stringify(EPOCH), ...others]))).to.match(/more than 100 lines/);
    expect(await replayed(join(folder, "nothing"))).to.match(/nothing cannot be read: ENOENT/);
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await mistakeOf(["erasures", "export", "--since", later], env())).to.match(
      /since must not be in the future/,
    );
  });
});
