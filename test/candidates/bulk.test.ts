import { expect } from "chai";
import type { BulkResult } from "../../src/candidates/bulk-schema.ts";
import { unpack } from "../../src/idempotency/outcome.ts";
import type { IdempotencyRecord } from "../../src/idempotency/store.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

const LINES = { "Content-Type": "application/x-ndjson" };

describe("POST /candidates/bulk", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  const send = (candidates: readonly unknown[], query = "", headers = {}) =>
    client.post(`/candidates/bulk?count=${candidates.length}${query}`, { candidates }, headers);
  const sendText = (count: number, body: string, headers: Record<string, string> = LINES) =>
    client.request("POST", `/candidates/bulk?count=${count}`, { headers, body });
  const statuses = (results: readonly BulkResult[]) => results.map(({ status }) => status);
  const codes = (results: readonly BulkResult[]) => results.map(({ problem }) => problem?.["code"] ?? null);
  const feed = async () => (await client.get("/candidates?limit=200")).body.data;

  it("ends with its account: who is suspended creates nobody any more", async () => {
    const documents = Array.from({ length: 10 }, (_, n) => ({ name: `File ${n}`, content: { data: "YQ==" } }));
    const sent = send(Array.from({ length: 60 }, (_, n) => ({ name: `Person ${n}`, documents })));
    const candidates = service.operators.mongo.db.collection("candidates");
    const count = () => candidates.find({ account: account.id }).toArray();
    while ((await count()).length === 0);
    await service.operators.accounts.setStatus(account.id, "suspended");
    const { length } = await count();
    expectProblem(await sent, 403, "account_suspended");
    expect((await count()).length, "the one that was under way").to.be.at.most(length + 1);
    await service.operators.accounts.setStatus(account.id, "active");
  });

  it("creates each candidate as POST /candidates does", async () => {
    const one = {
      external_id: 4711,
      name: " Ada ",
      documents: ["Passport", { name: "CV", content: { data: "YQ==" } }],
      references: [{ name: "Jo", email: "jo@example.com" }],
    };
    const { status, body } = await send([one, {}]);
    expect(status).to.equal(200);
    expect(body).to.include({ object: "bulk", created: 2, updated: 0, unchanged: 0, failed: 0 });
    const [first, second] = body.results;
    expect(first).to.deep.equal({ index: 0, status: 201, id: first!.id, external_id: "4711", version: 1 });
    expect(second).to.deep.equal({ index: 1, status: 201, id: second!.id, external_id: null, version: 1 });
    const ada = (await client.get(`/candidates/${first!.id}`)).body;
    expect(ada).to.include({ name: "Ada", external_id: "4711", version: 1 });
    expect(ada.documents.map(({ name, state }) => [name, state])).to.deep.equal([
      ["Passport", "pending"],
      ["CV", "received"],
    ]);
    expect((await client.get(`/references/${ada.references[0]!.id}`)).body.candidate_id).to.equal(ada.id);
    expect((await feed()).map(({ id }) => id)).to.have.members([first!.id, second!.id]);
    expect(await account.used()).to.include({ create: 2 });
  });

  it("takes NDJSON, of which a line that is not JSON fails alone", async () => {
    const { body } = await sendText(4, '{"name":"Ada"}\r\n\n{"name":\n[]\n  {"external_id":"x\\u200dy"} \n');
    expect(statuses(body.results)).to.deep.equal([201, 400, 422, 422]);
    expect(codes(body.results)).to.deep.equal([null, "malformed_json", "validation_failed", "validation_failed"]);
    expect(body.results[1]!.problem!["detail"]).to.match(/^The entry is not JSON/);
    expect(body).to.include({ created: 1, failed: 3 });
  });

  it("refuses one bad candidate alone, with the problem that it would get by itself", async () => {
    await client.post("/candidates", { external_id: "taken" });
    const bad = [
      { emial: "a" },
      { external_id: "taken" },
      { documents: [{ name: "Visa", state: "requested" }] },
      "text",
      { external_id: "new", documents: [{ name: "Visa", content: { data: "" } }] },
    ];
    const { body } = await send([{ name: "Ada" }, ...bad, { name: "Grace" }]);
    expect(body).to.include({ created: 2, failed: 5 });
    for (const [n, json] of bad.entries()) {
      const alone = await client.post("/candidates", json);
      const { status, problem, index } = body.results[n + 1]!;
      expect(index).to.equal(n + 1);
      expect(status).to.equal(alone.status);
      const { request_id: _, detail, ...members } = alone.body;
      expect(problem).to.deep.include(members);
      expect(problem!["detail"]).to.equal(detail.replace(/^The body/, "The entry"));
    }
  });

  it("takes entries of one external_id in their order", async () => {
    const same = [
      { external_id: "a", name: "One", documents: ["Passport"] },
      { external_id: "b" },
      { external_id: "a", name: "Two", documents: ["Visa"] },
      { external_id: "a", name: "Two" },
    ];
    const { body } = await send(same, "&on_conflict=update");
    expect(statuses(body.results)).to.deep.equal([201, 201, 200, 200]);
    expect(body.results.map(({ version }) => version)).to.deep.equal([1, 1, 2, 2]);
    expect(body).to.include({ created: 2, updated: 1, unchanged: 1 });
    const { body: ada } = await client.get("/candidates/external:a");
    expect(ada.name).to.equal("Two");
    expect(ada.documents).to.have.lengthOf(2);
    const refused = await send(same.slice(0, 2));
    expect(codes(refused.body.results)).to.deep.equal(["external_id_taken", "external_id_taken"]);
  });

  it("brings candidates in line: what is new, changed and unchanged, and no feed row for the last", async () => {
    const rows = (count: number, name: string) =>
      Array.from({ length: count }, (_, n) => ({
        external_id: `row-${n}`,
        name: `${name} ${n}`,
        outreach_enabled: false,
        documents: ["Passport"],
        references: [{ name: "Jo", email: `jo-${n}@example.com` }],
      }));
    expect((await send(rows(50, "Ada"), "&on_conflict=update")).body).to.include({ created: 50, failed: 0 });
    const before = await feed();
    const mixed = [...rows(30, "Ada"), ...rows(40, "Grace").slice(30), { external_id: "new" }];
    const { body } = await send(mixed, "&on_conflict=update");
    expect(body).to.include({ created: 1, updated: 10, unchanged: 30, failed: 0 });
    const kept = new Set(before.map(({ id, version }) => `${id} ${version}`));
    const changed = (await feed()).filter(({ id, version }) => !kept.has(`${id} ${version}`));
    expect(changed.map(({ external_id }) => external_id)).to.have.members([
      "new",
      ...Array.from({ length: 10 }, (_, n) => `row-${n + 30}`),
    ]);
    const skipped = await send([{ external_id: "row-0", name: "Edsger" }], "&on_conflict=skip");
    expect(skipped.body).to.include({ unchanged: 1 });
  });

  it("keeps what cannot be read, and lists it with each candidate", async () => {
    const { body } = await send([{ email: "none" }, { email: "ada@example.com" }], "&unreadable=metadata");
    expect(body).to.include({ created: 2 });
    expect(body.results[0]!.warnings!.map(({ pointer }) => pointer)).to.deep.equal(["/email"]);
    expect(body.results[1]).to.not.have.property("warnings");
  });

  it("charges count before it reads the body, all of it or nothing", async () => {
    await send(Array.from({ length: 63 }, () => ({})));
    const refused = await send(Array.from({ length: 38 }, () => ({})));
    const problem = expectProblem(refused, 429, "rate_limited");
    expect(problem).to.include({ scope: "key", limit: 100, remaining: 37 });
    expect(problem.detail).to.include("37 remain. This request counts as 38.");
    expect(refused.headers.get("ratelimit")).to.match(/"account-create";r=137;t=\d+, "key-create";r=37;/);
    expect((await client.post("/candidates")).status).to.equal(201);
    expect((await send(Array.from({ length: 36 }, () => ({})))).status).to.equal(200);
    expect(await account.used()).to.include({ create: 100 });
    expect(await feed()).to.have.lengthOf(100);
    expectProblem(await send([{}]), 429, "rate_limited");
  });

  it("charges nothing for a count that is missing or bad, but checks the key first", async () => {
    const COUNTS = ["", "count=", "count=0", "count=101", "count=1.5", "count=ten", "count=1&count=1"];
    const ENDLESS = ["-Infinity", "Infinity", "1e999", "-1e999", "-1", "NaN"].map((count) => `count=${count}`);
    for (const query of [...COUNTS, ...ENDLESS])
      for (const method of ["POST", "PATCH"])
        expectProblem(
          await client.request(method, `/candidates/bulk?${query}`, { json: { candidates: [{}] } }),
          400,
          "invalid_query",
        );
    expectProblem(await client.get("/candidates?limit=-Infinity"), 400, "invalid_query");
    expect(await account.used()).to.deep.equal({ list: 1 });
    const headers = { Authorization: "Bearer cos_live_wrong" };
    expectProblem(await client.post("/candidates/bulk?count=0", { candidates: [{}] }, headers), 401, "api_key_invalid");
  });

  it("with an Idempotency-Key does its work once, and replays the response", async () => {
    const key = { "Idempotency-Key": "import 1" };
    const candidates = [{ external_id: "a" }, { name: "Ada" }, { email: "none" }];
    const first = await send(candidates, "", key);
    const again = await send(candidates, "", key);
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(again.body).to.deep.equal(first.body);
    expect(await feed()).to.have.lengthOf(2);
    const other = await send([{ external_id: "a" }, { name: "Grace" }, { email: "none" }], "", key);
    expectProblem(other, 422, "idempotency_key_reused");
  });

  it("keeps nothing of an erased person in what is stored for replays", async () => {
    const key = { "Idempotency-Key": "import 1" };
    const candidates = [{ external_id: "person@example.com", name: "Ada" }];
    const { body } = await send(candidates, "", key);
    await client.request("DELETE", `/candidates/${body.results[0]!.id}`);
    const stored = await service.operators.mongo.db
      .collection<IdempotencyRecord>("idempotency_records")
      .findOne({ account: account.id });
    expect(JSON.stringify(await unpack(stored!.outcome!.value())))
      .to.include(body.results[0]!.id)
      .and.not.include("person@example.com");
    const again = await send(candidates, "", key);
    expect(again.body).to.deep.equal(body);
    expect(await feed()).to.have.lengthOf(1);
  });

  it("is no way into another account", async () => {
    await client.post("/candidates", { external_id: "a", name: "Ada" });
    const stranger = (await service.account()).client;
    const { body } = await stranger.post("/candidates/bulk?count=1&on_conflict=update", {
      candidates: [{ external_id: "a", name: "Eve" }],
    });
    expect(body).to.include({ created: 1 });
    expect((await client.get("/candidates/external:a")).body.name).to.equal("Ada");
  });
});
