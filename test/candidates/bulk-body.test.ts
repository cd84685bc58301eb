import { expect } from "chai";
import type { BulkResult } from "../../src/candidates/bulk-schema.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount } from "../support/use-service.ts";

const LINES = { "Content-Type": "application/x-ndjson" };

describe("the body of POST /candidates/bulk", () => {
  const account = useAccount();
  const { client } = account;
  const sendText = (count: number, body: string, headers: Record<string, string> = LINES) =>
    client.request("POST", `/candidates/bulk?count=${count}`, { headers, body });
  const codes = (results: readonly BulkResult[]) => results.map(({ problem }) => problem?.["code"] ?? null);
  const feed = async () => (await client.get("/candidates?limit=200")).body.data;

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
      ['{"candidates":[{},{}],"candidates":[{},{}]}', 400, "malformed_json"],
      ['{"candidates":[{},{}],"more":1}', 400, "malformed_json"],
      ['{"candidates":{"a":[],"b":{}}}', 400, "malformed_json"],
      ["[{},{}]", 400, "malformed_json"],
      ['"candidates"', 400, "malformed_json"],
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
});
