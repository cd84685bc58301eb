import { expect } from "chai";
import { measure, requestLog } from "../../src/api/observe-requests.ts";
import { createLog } from "../../src/infra/log.ts";

type Ctx = Parameters<typeof measure>[1];

/** A request of a known caller, whose response was sent. */
const STATE = {
  requestId: "req_1",
  traceId: "a1",
  endpointName: "listCandidates",
  caller: { accountId: "acct_1", keyId: "key_1" },
  decision: { surface: "list", verdict: "admitted", window: 7 },
};
const exchange = (state: object, res: object = {}, method = "GET") =>
  ({ method, state, res: { statusCode: 200, writableFinished: true, headersSent: true, ...res } }) as unknown as Ctx;

/** Returns the lines of these requests, without their time. Each began 1234.56 ms ago. */
function linesOf(level: string, ...requests: Ctx[]): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  const log = requestLog({ log: createLog(level, { write }), routes: [], logAddress: "full" });
  for (const ctx of requests) log(ctx, performance.now() - 1234.56);
  return lines.map(({ time: _time, pid: _pid, hostname: _host, ...line }) => line);
}

describe("the line of a request in the log", () => {
  it("says whose it was, what it was charged, and what it was answered, and nothing that is not known", () => {
    const [known, unknown, again] = linesOf(
      "info",
      exchange(STATE),
      exchange({ requestId: "req_2" }, { statusCode: 404 }, "POST"),
      exchange({ ...STATE, requestId: "req_3" }, { writableFinished: false }),
    );
    const { ms, ...rest } = known ?? {};
    expect(ms).to.be.within(1234.5, 60_000);
    expect(Number.isInteger(Math.round(Number(ms) * 1e6) / 1e5), "one digit after the point").to.equal(true);
    const line = {
      level: 30,
      method: "GET",
      endpoint: "listCandidates",
      request_id: "req_1",
      trace_id: "a1",
      status: 200,
      account: "acct_1",
      key_id: "key_1",
      surface: "list",
      verdict: "admitted",
      window: 7,
      msg: "request",
    };
    expect(rest).to.deep.equal(line);
    expect({ ...unknown, ms: 0 }).to.deep.equal({
      level: 30,
      method: "POST",
      endpoint: null,
      request_id: "req_2",
      status: 404,
      ms: 0,
      msg: "request",
    });
    expect({ ...again, ms: 0 }).to.deep.equal({ ...line, request_id: "req_3", ms: 0, aborted: true });
  });

  it("is written for a failure whatever the level is, and for others only at info", () => {
    const failed = exchange({ ...STATE, failure: "why" }, { statusCode: 500 });
    for (const level of ["info", "error"]) {
      const lines = linesOf(level, exchange(STATE), failed);
      expect(lines.map(({ msg }) => msg)).to.deep.equal(
        level === "info" ? ["request", "request failed"] : ["request failed"],
      );
      expect(lines.at(-1)).to.deep.include({ level: 50, status: 500, error: { message: "why" } });
    }
  });
});

describe("the measured time of a request", () => {
  /** Measures a request that began two seconds ago. Returns the labels and seconds that the metric gets. */
  const observed = (ctx: Ctx) => {
    const seen: [labels: object, seconds: number][] = [];
    const requestDuration = { observe: (labels: object, seconds: number) => void seen.push([labels, seconds]) };
    measure({ requestDuration } as never, ctx, performance.now() - 2_000);
    return seen;
  };

  it("has the labels of its method, its route and its status, as far as they are known", () => {
    for (const method of ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]) {
      const [[labels, seconds] = [{}, 0], ...others] = observed(exchange({ route: "/candidates" }, {}, method));
      expect(labels).to.deep.equal({
        http_request_method: method,
        http_route: "/candidates",
        http_response_status_code: 200,
      });
      expect(seconds).to.be.within(2, 60);
      expect(others).to.deep.equal([]);
    }
    expect(observed(exchange({}, { headersSent: false }, "PROPFIND"))[0]?.[0]).to.deep.equal({
      http_request_method: "_OTHER",
      http_route: "",
      http_response_status_code: "",
    });
  });
});
