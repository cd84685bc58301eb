import { mock } from "node:test";
import { expect } from "chai";
import { type ClientOptions, ConnectionError, OnboardingClient, ProblemError } from "../../src/client/index.ts";
import { useNoService } from "../support/use-service.ts";
import { errorOf } from "./support.ts";

/** What one attempt gets: a response with this status and code, or none. */
type Outcome = [status: number, code?: string, headers?: Record<string, string>] | "broken";

const DONE: Outcome = [200];
const FIRST_PAUSES = [250, 500, 1000, 2000, 4000];

describe("the patience of the client", () => {
  useNoService();
  /** What timers were set to, in milliseconds. They end at once, and the clock that the client reads goes on with them. */
  let waits: number[];
  /** The time limit of each attempt, in milliseconds. */
  let timeouts: number[];
  let random: number;
  beforeEach(() => {
    [waits, timeouts, random] = [[], [], 1];
    let clock = 1_000;
    mock.method(performance, "now", () => clock);
    mock.method(Math, "random", () => random);
    mock.method(globalThis, "setTimeout", (after: () => void, ms: number) => {
      const isTimeout = after.name === "giveUp";
      (isTimeout ? timeouts : waits).push(ms);
      if (isTimeout) return;
      clock += ms;
      queueMicrotask(after);
    });
  });
  afterEach(() => mock.restoreAll());

  /** Makes a call whose attempts get these outcomes; the last one again and again. */
  async function call(
    outcomes: Outcome[],
    make: (client: OnboardingClient) => Promise<unknown> = (client) => client.readLimits(),
    options: Partial<ClientOptions> = {},
  ) {
    let attempts = 0;
    const client = new OnboardingClient({
      baseUrl: "http://service.example",
      apiKey: "k",
      fetch: () => {
        const outcome = outcomes[Math.min(attempts++, outcomes.length - 1)] ?? DONE;
        if (outcome === "broken") return Promise.reject(new TypeError("fetch failed", { cause: new Error("reset") }));
        const [status, code, headers = {}] = outcome;
        return Promise.resolve(new Response(status === 204 ? null : JSON.stringify({ code }), { status, headers }));
      },
      ...options,
    });
    const error = await make(client).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    return { attempts, error };
  }

  it("is five retries, each after twice the pause of the one before", async () => {
    for (const outcome of ["broken", [503, "store_unavailable"], [502], [504]] as Outcome[]) {
      waits = [];
      const { attempts, error } = await call([outcome]);
      expect({ attempts, waits }, JSON.stringify(outcome)).to.deep.equal({ attempts: 6, waits: FIRST_PAUSES });
      expect(error).to.be.instanceOf(outcome === "broken" ? ConnectionError : ProblemError);
    }
  });

  it("halves a pause by chance, at most", async () => {
    random = 0;
    await call(["broken"]);
    expect(waits).to.deep.equal(FIRST_PAUSES.map((ms) => ms / 2));
  });

  it("gives an attempt 30 seconds, or what timeout says, or as long as a timer can be set to", async () => {
    await call([DONE]);
    await call([DONE], undefined, { timeout: 0.5 });
    await call([DONE], undefined, { timeout: Infinity });
    expect(timeouts).to.deep.equal([30_000, 500, 2 ** 31 - 1]);
  });

  it("is 60 seconds for a limit, or what maxWait says", async () => {
    const limited = (seconds: number): Outcome => [429, "rate_limited", { "Retry-After": `${seconds}` }];
    for (const [seconds, maxWait, attempts] of [
      [60, undefined, 2],
      [61, undefined, 1],
      [5, 5, 2],
      [6, 5, 1],
    ] as const) {
      waits = [];
      const options = maxWait === undefined ? {} : { maxWait };
      expect(await call([limited(seconds), DONE], undefined, options)).to.include({ attempts });
      expect(waits).to.deep.equal(attempts === 1 ? [] : [seconds * 1000]);
    }
    waits = [];
    const { attempts } = await call([limited(25), limited(30), limited(6), DONE]);
    expect({ attempts, waits }, "in all").to.deep.equal({ attempts: 3, waits: [25_000, 30_000] });
    waits = [];
    const again = await call([limited(61)], (client) => client.readLimits().catch(() => client.readLimits()));
    expect(again, "the second call is not sent").to.include({ attempts: 1 });
    expect({ error: again.error, waits })
      .to.deep.include({ waits: [] })
      .and.have.nested.property("error.retryAfter", 61);
    await call([limited(1), limited(1), limited(1), limited(1), limited(1), limited(1), limited(1), limited(1), DONE]);
    expect(waits, "refusals are no failures").to.deep.equal(Array(8).fill(1_000));
  });

  it("waits as long as a failure asks for, up to maxWait", async () => {
    const busy = (seconds: number): Outcome => [503, "store_unavailable", { "Retry-After": `${seconds}` }];
    expect(await call([busy(60), DONE])).to.include({ attempts: 2, error: undefined });
    expect(waits).to.deep.equal([60_000]);
    expect(await call([busy(61), DONE])).to.include({ attempts: 1 });
    expect(await call([busy(40), busy(21), DONE]), "in all").to.include({ attempts: 2 });
  });

  it("goes into the pace of calls only if that is asked for", async () => {
    const short = { "RateLimit-Policy": '"key-reads";q=10;w=3600', RateLimit: '"key-reads";r=2;t=3600' };
    const twice = (client: OnboardingClient) => client.readLimits().then(() => client.readLimits());
    await call([[200, "none", short]], twice);
    expect(waits).to.deep.equal([]);
    await call([[200, "none", short]], twice, { pacing: true });
    expect(waits, "its turn is in half an hour").to.deep.equal([60_000]);
    waits = [];
    const limited: Outcome = [429, "rate_limited", { ...short, "Retry-After": "61" }];
    expect(await call([limited], undefined, { pacing: true }), "it is refused first").to.include({ attempts: 1 });
    expect(waits).to.deep.equal([]);
  });

  const put = (ifMatch?: string) => (client: OnboardingClient) =>
    client.putDocumentContent("cand_1", "doc_1", "text", { ifMatch });
  const CALLS: Record<string, (client: OnboardingClient) => Promise<unknown>> = {
    GET: (client) => client.readCandidate("cand_1"),
    "GET with If-Match": (client) => client.readCandidate("cand_1", { ifMatch: "*" }),
    POST: (client) => client.createCandidate({}),
    "POST with If-Match": (client) => client.addReference("cand_1", {}, { ifMatch: "*" }),
    PUT: put(),
    "PUT with If-Match": put("*"),
    PATCH: (client) => client.updateCandidate("cand_1", {}),
    "PATCH with If-Match": (client) => client.updateCandidate("cand_1", {}, { ifMatch: "*" }),
    DELETE: (client) => client.deleteReference("ref_1"),
    "DELETE with If-Match": (client) => client.deleteReference("ref_1", { ifMatch: "*" }),
  };
  const ONCE = ["PUT with If-Match", "PATCH with If-Match", "DELETE with If-Match"];
  for (const [name, make] of Object.entries(CALLS)) {
    it(`${ONCE.includes(name) ? "does not repeat" : "repeats"} a ${name} that may have been done`, async () => {
      const attempts = ONCE.includes(name) ? 1 : 2;
      for (const failure of ["broken", [502], [503, "store_unavailable"], [504]] as Outcome[])
        expect(await call([failure, DONE], make), JSON.stringify(failure)).to.include({ attempts });
    });

    it(`repeats a ${name} that was not begun, and none that is refused`, async () => {
      for (const failure of [
        [503, "limiter_unavailable"],
        [409, "idempotency_in_flight"],
      ] as Outcome[])
        expect(await call([failure, DONE], make), JSON.stringify(failure)).to.include({
          attempts: 2,
          error: undefined,
        });
      for (const status of [301, 400, 409, 422, 500, 501, 505])
        expect(await call([[status, "internal_error"], DONE], make), `${status}`).to.include({ attempts: 1 });
    });
  }

  it("takes a DELETE of what is gone for done only if an attempt before may have done it", async () => {
    const gone: Outcome = [404, "not_found"];
    const erase = (client: OnboardingClient) => client.deleteReference("ref_1");
    const limited: Outcome = [429, "rate_limited", { "Retry-After": "1" }];
    for (const before of ["broken", [502], [503, "store_unavailable"]] as Outcome[]) {
      expect(await call([before, gone], erase), JSON.stringify(before)).to.deep.equal({
        attempts: 2,
        error: undefined,
      });
      const again = await call([before, [503, "limiter_unavailable"], limited, gone], erase);
      expect(again, JSON.stringify(before)).to.deep.equal({ attempts: 4, error: undefined });
    }
    for (const before of [limited, [503, "limiter_unavailable"], [409, "idempotency_in_flight"]] as Outcome[])
      expect((await call([before, gone], erase)).error, JSON.stringify(before)).to.include({ code: "not_found" });
    expect((await call(["broken", [404, "other"]], erase)).error).to.include({ code: "other" });
    const read = await call(["broken", gone], (client) => client.readReference("ref_1"));
    expect(read.error, "a GET").to.include({ code: "not_found" });
  });

  it("says which call failed, and why", async () => {
    const fails = async (fetch: NonNullable<ClientOptions["fetch"]>) => {
      const client = new OnboardingClient({ baseUrl: "http://service.example/a//", apiKey: "k", maxWait: 0, fetch });
      return (await errorOf(client.readCandidate("cand_1"))) as Error;
    };
    const inner = new TypeError("fetch failed", { cause: new Error("reset") });
    for (const [thrown, reason] of [
      [inner, "reset"],
      [new TypeError("fetch failed", { cause: "text" }), "fetch failed"],
      [new TypeError("fetch failed", { cause: new RangeError() }), "RangeError"],
      ["text", "text"],
    ] as const) {
      const error = await fails(() => Promise.reject(thrown));
      expect(error).to.include({
        name: "ConnectionError",
        message: `GET http://service.example/a/candidates/cand_1 failed: ${reason}`,
        cause: thrown,
      });
    }
  });
});
