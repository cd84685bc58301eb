import { expect } from "chai";
import Koa from "koa";
import { sendProblem, problemDocument } from "../../src/http/problem.ts";
import type { RequestState } from "../../src/http/request.ts";
import { isRefusal, listed, Problem, problem, PROBLEMS, refusal } from "../../src/problems.ts";
import { request } from "./support.ts";

/** Returns what an error is answered with: the status, the headers, the body, and what the log gets. */
function answered(error: unknown) {
  const headers = new Map<string, unknown>([["etag", '"old"']]);
  const res = {
    statusCode: 200,
    setHeader: (name: string, value: unknown) => void headers.set(name.toLowerCase(), value),
    getHeader: (name: string) => headers.get(name.toLowerCase()),
    hasHeader: (name: string) => headers.has(name.toLowerCase()),
    removeHeader: (name: string) => void headers.delete(name.toLowerCase()),
  };
  const ctx = new Koa<RequestState>().createContext(Object.assign(request({}), { socket: {} }), res as never);
  ctx.state = { requestId: "req_1" };
  expect(sendProblem(ctx, error), "a small response is sent at once").to.equal(undefined);
  const { failure } = ctx.state;
  headers.delete("content-length");
  return { status: ctx.status, headers: Object.fromEntries(headers), body: JSON.parse(ctx.body as string), failure };
}

const HEADERS = { "content-type": "application/problem+json", "cache-control": "no-store" };

describe("a response to an error", () => {
  it("says what a problem says, in this order, and nothing of it reaches the log", () => {
    const errors = [{ pointer: "/a", detail: "b" }];
    const refused = problem("validation_failed", 'No "request_id":"x".', {
      errors,
      members: { limit: 7 },
      headers: { "Retry-After": "7" },
    });
    expect(problemDocument(refused, "req_1")).to.equal(
      '{"type":"/docs#validation_failed","title":"Validation failed","status":422,' +
        '"detail":"No \\"request_id\\":\\"x\\".","code":"validation_failed","request_id":"req_1",' +
        '"limit":7,"errors":[{"pointer":"/a","detail":"b"}]}',
    );
    expect(problemDocument(refused, "req_2"), "again, with another id").to.include('"request_id":"req_2"');
    const { status, headers, body, failure } = answered(refused);
    expect({ status, headers, failure }).to.deep.equal({
      status: 422,
      headers: { ...HEADERS, "retry-after": "7" },
      failure: undefined,
    });
    expect(body).to.deep.include({ limit: 7, errors, request_id: "req_1" });
  });

  it("has no details of an error that is no problem, but the log has it", () => {
    for (const error of [
      new Error("a secret"),
      "text",
      Object.assign(new Error("x"), { code: "EPIPE" }),
      { code: "ECONNRESET" },
    ]) {
      const { status, headers, body, failure } = answered(error);
      expect({ status, headers }).to.deep.equal({ status: 500, headers: HEADERS });
      expect(body).to.deep.equal({
        type: "/docs#internal_error",
        title: "Internal error",
        status: 500,
        detail: "Something went wrong on our side. Quote the request_id when you contact support.",
        code: "internal_error",
        request_id: "req_1",
      });
      expect(failure).to.equal(error);
    }
  });

  it("leaves the cause of a 5xx to the log, or the problem itself if it has none", () => {
    const cause = new Error("the store is away");
    for (const code of ["internal_error", "store_unavailable"] as const) {
      expect(answered(problem(code, "x", { cause })).failure, code).to.equal(cause);
      const bare = problem(code, "x");
      expect(answered(bare).failure, code).to.equal(bare);
    }
    expect(answered(problem("headers_too_large", "x", { cause })).failure, "a 431").to.equal(undefined);
  });

  it("takes a connection that broke for the client's doing", () => {
    for (const code of ["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"]) {
      const { status, body, failure } = answered(Object.assign(new Error("x"), { code }));
      expect({ status, failure }).to.deep.equal({ status: 400, failure: undefined });
      expect(body).to.include({
        code: "malformed_request",
        detail: "The connection closed before the whole body had arrived. Send the request again.",
      });
    }
  });
});

describe("a refusal", () => {
  it("is the same as a value and as an error", () => {
    const extras = { headers: { Allow: "GET" }, cause: new Error("x") };
    const value = refusal("not_found", "No.", extras);
    expect(value).to.deep.equal({ code: "not_found", detail: "No.", extras });
    const error = new Problem(value);
    expect(error).to.include({
      name: "Problem",
      message: "No.",
      detail: "No.",
      code: "not_found",
      status: 404,
      extras,
    });
    expect(error.cause).to.equal(extras.cause);
    expect(refusal("not_found", "No.").extras).to.deep.equal({});
    expect([value, error, { accountId: "acct_1" }].map(isRefusal)).to.deep.equal([true, true, false]);
    for (const [code, { status }] of Object.entries(PROBLEMS))
      expect(problem(code as keyof typeof PROBLEMS, "x").status, code).to.equal(status);
  });

  it("lists 100 faults, and then one that says that there are more", () => {
    const faults = (count: number) => Array.from({ length: count }, (_, n) => ({ pointer: `/${n}`, detail: "x" }));
    expect(listed(faults(100))).to.deep.equal(faults(100));
    expect(listed(faults(101))).to.deep.equal([...faults(100), { pointer: "", detail: "and more faults" }]);
  });
});
