import { expect } from "chai";
import { path } from "../../src/client/path.ts";
import { errorOf, ProblemError, refusalOf, retryAfterOf, unexpected } from "../../src/client/errors.ts";

describe("the client's error for a response that redirects", () => {
  it("advises to check baseUrl, also in a browser, which hides the status and the address", async () => {
    const hidden = Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
    expect(await errorOf(hidden))
      .to.have.property("message")
      .that.matches(/The server redirects to another address\. Check baseUrl\.$/);
  });
});

describe("the client's error for a response that refuses", () => {
  /** The members of an error that a caller reads. */
  const shown = ({ message, ...members }: Error): object => ({ message, ...members });

  it("has the members of the problem and the id of the request", async () => {
    const problem = {
      code: "validation_failed",
      title: "No",
      detail: "No name.",
      errors: [{ pointer: "/a", detail: "b" }],
    };
    const response = new Response(JSON.stringify(problem), { status: 422, headers: { "X-Request-Id": "req_1" } });
    expect(shown(await errorOf(response))).to.deep.equal({
      message: "No name.",
      name: "ProblemError",
      status: 422,
      code: "validation_failed",
      errors: problem.errors,
      requestId: "req_1",
      problem,
    });
  });

  it("says what a 429 adds: which limit, whose, and how long to wait", async () => {
    const problem = {
      code: "rate_limited",
      title: "Too many requests",
      surface: "create",
      scope: "key",
      retry_after: 7,
    };
    expect(shown(await errorOf(new Response(JSON.stringify(problem), { status: 429 })))).to.deep.equal({
      message: "Too many requests",
      name: "RateLimitError",
      status: 429,
      code: "rate_limited",
      errors: [],
      requestId: undefined,
      problem,
      retryAfter: 7,
      surface: "create",
      scope: "key",
      remaining: 0,
    });
  });

  it("says its status if nothing else is known", () => {
    expect(new ProblemError(418, {}, undefined)).to.include({
      message: "The response has the status 418.",
      code: "unexpected_answer",
    });
  });

  it("says that a body is no problem document, and advises where the address may be wrong", async () => {
    const away = " The server redirects to another address. Check baseUrl.";
    const hints = {
      300: away,
      399: away,
      400: "",
      403: "",
      404: " Check baseUrl.",
      405: " Check baseUrl.",
      406: "",
      500: "",
    };
    for (const [status, hint] of Object.entries(hints))
      for (const body of ["", "<html>", "null", "7", '"code"', "{}", '{"code":7}', '["code"]'])
        expect(await errorOf(new Response(body, { status: Number(status) })), `${status} ${body}`).to.include({
          message: `The response has the status ${status} and is no problem document.${hint}`,
          code: "unexpected_answer",
        });
  });

  it("says the type of a response that is not JSON", () => {
    const headers = { "Content-Type": "text/html", "X-Request-Id": "req_1" };
    expect(unexpected(new Response("", { status: 203, headers }))).to.include({
      message: "The response has the status 203, but it is not JSON (text/html). Check baseUrl.",
      status: 203,
      requestId: "req_1",
    });
    expect(unexpected(new Response(null)))
      .to.have.property("message")
      .that.includes("(no type)");
  });
});

describe("the wait that a response asks the client for", () => {
  const inHeader = (value: string) => new Headers({ "Retry-After": value });

  it("is a number of seconds or a date, and never below zero", () => {
    expect(retryAfterOf(new Headers())).to.equal(undefined);
    for (const [value, seconds] of [
      ["0", 0],
      ["120", 120],
      ["Wed, 21 Oct 2015 07:28:00 GMT", 0],
      ["soon", undefined],
      ["5x", undefined],
      ["x5", undefined],
      ["", undefined],
    ] as const)
      expect(retryAfterOf(inHeader(value)), value).to.equal(seconds);
    expect(retryAfterOf(inHeader(new Date(Date.now() + 3_600_000).toUTCString()))).to.be.within(3_000, 3_600);
  });

  it("is at least a second for a 429. The header counts, else its problem document, else it is a second", () => {
    const wait = (headers: Record<string, string>, problem?: { retry_after: number }) =>
      refusalOf(new Response(null, { headers }), problem).retryAfter;
    expect(wait({})).to.equal(1);
    expect(wait({}, { retry_after: 40 })).to.equal(40);
    expect(wait({}, { retry_after: 0.2 })).to.equal(1);
    expect(wait({}, { retry_after: "40" as unknown as number })).to.equal(1);
    expect(wait({ "Retry-After": "30" }, { retry_after: 40 })).to.equal(30);
    expect(wait({ "Retry-After": "0" }, { retry_after: 40 })).to.equal(1);
    expect(refusalOf(new Response(null, { headers: { "X-Request-Id": "req_1" } })).requestId).to.equal("req_1");
  });
});

describe("a path of the client", () => {
  it("encodes what it is given, so that it stays one part of the path", () => {
    expect(path`/a/${"b/c?d#é"}/e/${"..."}/${"a."}/${".a"}`).to.equal("/a/b%2Fc%3Fd%23%C3%A9/e/.../a./.a");
  });

  it("refuses what would name something else", () => {
    for (const id of ["", ".", ".."]) expect(() => path`/a/${id}`).to.throw(TypeError, `This is not an id: "${id}"`);
  });
});
