import type { Mutant } from "../mutant.ts";

/** What protects the limiter outside its scripts: deadlines, outages, clocks, markers, names. */
export const limiterMutants: Mutant[] = [
  {
    file: "src/limiter/limiter.ts",
    before: "if (received < giveUpAt) this.#clocks.answered",
    after: "if (received < Infinity) this.#clocks.answered",
    red: ["test/limiter/clock.test.ts"],
  },
  {
    file: "src/limiter/limiter.ts",
    before: "if (received < giveUpAt) this.#clocks.answered",
    after: "if (received < 0) this.#clocks.answered",
    red: ["test/limiter/clock.test.ts"],
  },
  {
    file: "src/limiter/limiter.ts",
    before: "const STALE_AGAIN = 2;",
    after: "const STALE_AGAIN = 0;",
    red: ["test/limiter/skewed-masters.test.ts"],
  },
  {
    file: "src/limiter/limiter.ts",
    before: "if (again > 0 && received < giveUpAt) return",
    after: "if (again > 0) return",
    red: ["test/limiter/clock.test.ts"],
    equal:
      "A charge that is sent again after its time has a deadline that is over, so Redis charges nothing, unless Redis's clock steps back in between, as Limiter says.",
  },
  {
    file: "src/limiter/limiter.ts",
    before: "this.#clocks.timeAt(giveUpAt - this.#wayBackMs, accountId)",
    after: "0",
    red: ["test/limiter/outage.test.ts"],
  },
  {
    file: "src/limiter/limiter.ts",
    before: "giveUpAt - this.#wayBackMs, accountId",
    after: "giveUpAt + 5, accountId",
    red: ["test/limiter/skewed-masters.test.ts"],
  },
  {
    file: "src/limiter/limiter.ts",
    before: "if (this.#local === null || !isOutage) throw error;",
    after: "if (this.#local === null) throw error;",
    red: ["test/limiter/local.test.ts"],
  },
  {
    file: "src/limiter/limiter.ts",
    before: "      this.#outageOf(request).answered();\n",
    after: "",
    red: ["test/limiter/local.test.ts"],
  },
  {
    file: "src/limiter/limiter.ts",
    before: "grantRemaining: grantRemaining < 0 ? null : grantRemaining,",
    after: "grantRemaining,",
    red: ["test/limiter/charge-grants.test.ts"],
  },
  {
    file: "src/limiter/limiter.ts",
    before: "const asked = [accountId, keyId, accountVersion, secretEndsAt].join();",
    after: "const asked = accountId;",
    red: ["test/limits/limits.test.ts"],
  },
  {
    file: "src/limiter/limiter.ts",
    before: "const asked = [accountId, keyId, accountVersion, secretEndsAt].join();",
    after: "const asked = [accountId, keyId].join();",
    red: ["test/limits/standing.test.ts"],
  },
  {
    file: "src/limiter/outage.ts",
    before: "if (now - this.#last > OUTAGE_GAP_MS) this.#failures = 0;",
    after: "",
    red: ["test/limiter/outage-detector.test.ts"],
  },
  {
    file: "src/limiter/outage.ts",
    before: "return this.#failures >= OUTAGE_FAILURES &&",
    after: "return this.#failures >= 1 &&",
    red: ["test/limiter/outage-detector.test.ts"],
  },
  {
    file: "src/limiter/outage.ts",
    before: "return this.#failures >= OUTAGE_FAILURES && now - this.#since >= OUTAGE_MS;",
    after: "return this.#failures >= OUTAGE_FAILURES;",
    red: ["test/limiter/outage-detector.test.ts"],
  },
  {
    file: "src/limiter/outage.ts",
    before: "if (this.#failures++ === 0) this.#since = now;",
    after: "this.#failures++;\n    this.#since = now;",
    red: ["test/limiter/outage-detector.test.ts"],
  },
  {
    file: "src/limiter/outage.ts",
    before: "      setImmediate(() => fail(new Error(`Redis did not answer within ${timeoutMs} ms`)));",
    after: "      fail(new Error(`Redis did not answer within ${timeoutMs} ms`));",
    red: ["test/limiter/outage.test.ts"],
  },
  {
    file: "src/limiter/server-clocks.ts",
    before: "return this.#redis.isCluster ? OVER_MS :",
    after: "return false ? OVER_MS :",
    red: ["test/limiter/skewed-masters.test.ts"],
  },
  {
    file: "src/limiter/server-clocks.ts",
    before: "else if (received < sentAt + PROMPT_MS) this.#clock",
    after: "else this.#clock",
    red: ["test/limiter/clock.test.ts"],
  },
  {
    file: "src/limiter/server-clocks.ts",
    before: "nowMs - received);",
    after: "nowMs - sentAt);",
    red: ["test/limiter/clock.test.ts"],
  },
  {
    file: "src/limiter/server-clocks.ts",
    before: "if (this.#redis.isCluster) this.#follow(received);",
    after: "if (this.#redis.isCluster) this.#clock.follow(nowMs, received);",
    red: ["test/limiter/skewed-masters.test.ts"],
  },
  {
    file: "src/limiter/server-clocks.ts",
    before: "this.#offsets.set(serverOf(this.#redis, accountId), nowMs - received);",
    after: 'this.#offsets.set("one", nowMs - received);',
    red: ["test/limiter/skewed-masters.test.ts"],
  },
  {
    file: "src/limiter/local.ts",
    before: "if (key.points < 1) throw",
    after: "if (key.points < 0) throw",
    red: ["test/limiter/local.test.ts"],
  },
  {
    file: "src/limiter/local.ts",
    before: "const accountCounter = `${accountId}:${window}`;",
    after: "const accountCounter = accountId;",
    red: ["test/limiter/local.test.ts"],
  },
  {
    file: "src/limiter/local.ts",
    before: "const keyCounter = `${accountId}:${keyId}:${window}`;",
    after: "const keyCounter = keyId;",
    red: ["test/limiter/local.test.ts"],
  },
  {
    file: "src/limiter/local.ts",
    before: "const decision = this.#previous.then(() => this.#decide(request));",
    after: "const decision = this.#decide(request);",
    red: ["test/limiter/local.test.ts"],
  },
  {
    file: "src/limiter/local.ts",
    before: "else if (keyRemaining < cost) verdict",
    after: "else if (keyRemaining < 0) verdict",
    red: ["test/limiter/local.test.ts"],
  },
];
