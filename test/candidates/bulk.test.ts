import { expect } from "chai";
import type { BulkResult } from "../../src/candidates/bulk-schema.ts";
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
    const refused = await send(same.slice(0, 2).reverse());
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
    for (const query of ["", "?count=", "?count=0", "?count=101", "?count=1.5", "?count=ten", "?count=1&count=1"])
      expectProblem(await client.post(`/candidates/bulk${query}`, { candidates: [{}] }), 400, "invalid_query");
    expect(await account.used()).to.deep.equal({});
    const headers = { Authorization: "Bearer cos_live_wrong" };
    expectProblem(await client.post("/candidates/bulk?count=0", { candidates: [{}] }, headers), 401, "api_key_invalid");
  });

  it("changes nothing if the body has another number of entries than count says", async () => {
    for (const [count, candidates] of [
      [1, [{}, {}]],
      [3, [{}, {}]],
      [2, []],
    ] as const) {
      const answer = await client.post(`/candidates/bulk?count=${count}`, { candidates });
      const { errors } = expectProblem(answer, 422, "validation_failed");
      expect(errors[0]!.pointer).to.equal("/candidates");
    }
    expectProblem(await sendText(1, "{}\n{}\n{}"), 422, "validation_failed");
    expectProblem(await sendText(1, "\n \n"), 422, "validation_failed");
    expect(await account.used()).to.include({ create: 8 });
    expect(await feed()).to.deep.equal([]);
  });

  it("refuses a body that is no list of candidates, and changes nothing", async () => {
    const json = { "Content-Type": "application/json" };
    const cases: [string, number, string][] = [
      ['{"candidates":[{"name":"Ada"},{"name"}]}', 400, "malformed_json"],
      ['{"candidates":[{} {}]}', 422, "validation_failed"],
      ['{"candidates":[{},,{}]}', 400, "malformed_json"],
      ['{"candidates":[{},{}],}', 400, "malformed_json"],
      ['{"candidates":[{},{}]', 400, "malformed_json"],
      ['{"candidates":[{},{}]}}', 400, "malformed_json"],
      ['{"candidates":[{},{}],"candidates":[{},{}]}', 422, "validation_failed"],
      ['{"candidates":[{},{}],"more":1}', 422, "validation_failed"],
      ['{"candidates":{"a":{},"b":{}}}', 422, "validation_failed"],
      ["[{},{}]", 422, "validation_failed"],
      ['"candidates"', 422, "validation_failed"],
      ["", 400, "malformed_json"],
    ];
    for (const [text, status, code] of cases) {
      const answer = await sendText(2, text, json);
      expect([answer.status, answer.body.code], text).to.deep.equal([status, code]);
    }
    expectProblem(await sendText(2, "{}\n{}", { "Content-Type": "text/plain" }), 415, "unsupported_media_type");
    expect(await feed()).to.deep.equal([]);
  });

  it("finds the entries whatever their texts are", async () => {
    const names = ['"', "\\", '\\"', "]}", ",", "[{", "\\\\", "ü😀\u2028ü", ""];
    const pretty = JSON.stringify({ candidates: names.map((name) => ({ name })) }, null, 2);
    const { body } = await sendText(names.length, pretty, { "Content-Type": "application/json" });
    expect(body).to.include({ created: names.length });
    const stored = await Promise.all(body.results.map(({ id }) => client.get(`/candidates/${id}`)));
    expect(stored.map((each) => each.body.name ?? "")).to.deep.equal(names);
  });

  it("takes as many bytes as its candidates could have one by one, up to 8 MiB", async () => {
    const large = (size: number) => JSON.stringify({ name: "Ada", x: "y".repeat(size) });
    expectProblem(await sendText(1, large(1.2 * 1024 * 1024)), 413, "payload_too_large");
    const { body } = await sendText(2, `${large(1.2 * 1024 * 1024)}\n{}`);
    expect(codes(body.results)).to.deep.equal(["payload_too_large", null]);
    const eight = Array.from({ length: 9 }, () => large(1_000_000)).join("\n");
    expectProblem(await sendText(9, eight), 413, "payload_too_large");
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

describe("PATCH /candidates/bulk", () => {
  const account = useAccount();
  const { client } = account;
  const send = (candidates: readonly unknown[]) =>
    client.request("PATCH", `/candidates/bulk?count=${candidates.length}`, { json: { candidates } });

  async function create(count: number): Promise<string[]> {
    const candidates = Array.from({ length: count }, (_, n) => ({ external_id: `row-${n}`, name: "Ada" }));
    const { body } = await client.post(`/candidates/bulk?count=${count}`, { candidates });
    return body.results.map(({ id }) => id!);
  }

  it("changes candidates by id and by external_id, and charges writes", async () => {
    const [first, , , fourth] = await create(5);
    const { status, body } = await send([
      { id: first, name: "Grace", external_id: "renamed" },
      { external_id: "row-1", withdrawn: true, withdrawal_reason: "gone", outreach_enabled: false },
      { external_id: "row-2", name: "Ada" },
      { id: fourth, metadata: { a: null }, docs_chase_attempts: 9 },
      { id: "cand_none", name: "Nobody" },
      { external_id: "none" },
      { name: "Nobody" },
      { id: first, state: "completed" },
      { id: first, external_id: "row-4" },
    ]);
    expect(status).to.equal(200);
    expect(body).to.include({ created: 0, updated: 3, unchanged: 1, failed: 5 });
    expect(body.results[0]).to.deep.equal({ index: 0, status: 200, id: first, external_id: "renamed", version: 2 });
    expect(body.results.slice(4).map(({ problem }) => problem!["code"])).to.deep.equal([
      "not_found",
      "not_found",
      "validation_failed",
      "validation_failed",
      "external_id_taken",
    ]);
    expect((await client.get("/candidates/external:row-1")).body).to.include({ state: "withdrawn", version: 2 });
    expect((await client.get("/candidates/external:row-2")).body.version).to.equal(1);
    expect(await account.used()).to.include({ create: 5, writes: 9 });
  });

  it("makes several changes of one candidate in their order, however it is named", async () => {
    const [first] = await create(2);
    const { body } = await send([
      { external_id: "row-0", name: "One" },
      { id: first, name: "Two", external_id: "moved" },
      { external_id: "moved", job_title: "Nurse" },
      { external_id: "row-0", name: "Three" },
      { external_id: "row-1", name: "Four" },
    ]);
    expect(body.results.map(({ status, version }) => [status, version])).to.deep.equal([
      [200, 2],
      [200, 3],
      [200, 4],
      [404, undefined],
      [200, 2],
    ]);
    expect((await client.get(`/candidates/${first}`)).body).to.include({
      name: "Two",
      job_title: "Nurse",
      external_id: "moved",
    });
  });

  it("hands an external_id from one candidate to another", async () => {
    const [first, second] = await create(2);
    const { body } = await send([
      { id: first, external_id: "free" },
      { id: second, external_id: "row-0" },
    ]);
    expect(body).to.include({ updated: 2, failed: 0 });
    expect((await client.get("/candidates/external:row-0")).body.id).to.equal(second);
  });

  it("is 410 for an erased candidate, alone", async () => {
    const [first, second] = await create(2);
    await client.request("DELETE", `/candidates/${first}`);
    const { body } = await send([
      { id: first, name: "Grace" },
      { id: second, name: "Grace" },
    ]);
    expect(body.results.map(({ status }) => status)).to.deep.equal([410, 200]);
  });
});
