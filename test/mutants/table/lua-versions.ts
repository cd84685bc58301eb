import { changesOf, type Mutant } from "../mutant.ts";

const VERSIONS = ["test/limiter/account-versions.test.ts"];
const SHOWN = ["test/limiter/shown-grants.test.ts"];

const script = changesOf("lua/raise-version.lua", VERSIONS);
const versions = changesOf("src/limiter/account-versions.ts", VERSIONS);
const shown = changesOf("src/limiter/shown-grants.ts", SHOWN);

/** What protects the versions of accounts in Redis, and what is remembered for a version: that there are no grants. */
export const versionMutants: readonly Mutant[] = [
  script("time[1] * 1000 + math.floor(time[2] / 1000)", "time[1] * 1000"),
  script("if deadline > 0 and now >= deadline then", "if now >= deadline then"),
  script("if deadline > 0 and now >= deadline then", "if false then"),
  script("now >= deadline then return 0 end", "now >= deadline then return version end"),
  {
    file: "lua/raise-version.lua",
    before: "now >= deadline then",
    after: "now > deadline then",
    red: [],
    equal:
      "A look-up's version may come one millisecond later. The deadline is five minutes, and Redis keeps a newer version for fifteen.",
  },
  script("'version') or 0)", "'version'))"),
  script("if known > version and", "if known < version and"),
  script("if known > version and", "if known >= version and"),
  script("if known > version and known ~= over then return known end\n", ""),
  script(" and known ~= over then", " then"),
  script("known ~= over then", "over == 0 then"),
  script("then return known end", "then return version end"),
  script("redis.call('HSET', KEYS[1], 'version', ARGV[1])\n", ""),
  script("now + tonumber(ARGV[2])", "now"),
  script("redis.call('PEXPIREAT', KEYS[1], expires_at, 'NX')\n", ""),
  script("redis.call('PEXPIREAT', KEYS[1], expires_at, 'GT')\n", ""),
  script("expires_at, 'GT')", "expires_at)"),
  script("'GT')\nreturn version", "'GT')\nreturn 0"),
  versions("const LIFETIME_MS = 15 * 60_000;", "const LIFETIME_MS = 14 * 60_000;"),
  versions("const LOOK_UP_MS = 5 * 60_000;", "const LOOK_UP_MS = 6 * 60_000;"),
  versions("const LOOK_UP_MS = 5 * 60_000;", "const LOOK_UP_MS = 4 * 60_000;"),
  versions("deadlineMs, over });", "deadlineMs, over: 0 });"),
  versions("deadlineMs, over });", "deadlineMs, over: version + 1 });"),
  versions("{ ...read, over: 0 }", "{ ...read, over: read.version + 1 }"),
  versions(
    "throw limiterUnavailable(error);\n    }\n  }\n\n  /**\n   * Tells",
    "throw error;\n    }\n  }\n\n  /**\n   * Tells",
    ["test/limiter/outage.test.ts"],
  ),
  versions("const deadlineMs = begunMs + LOOK_UP_MS;", "const deadlineMs = 0 * begunMs;"),
  versions(
    "await answerOf(this.#send(accountId, { ...read, over: 0 }), timeoutMs)",
    "await this.#send(accountId, { ...read, over: 0 * timeoutMs })",
    ["test/limiter/outage.test.ts"],
  ),
  versions("timeoutMs)) > 0", "timeoutMs)) >= 0"),
  shown("const MAX_REMEMBERED = 10_000;", "const MAX_REMEMBERED = 9_999;"),
  shown("const MAX_REMEMBERED = 10_000;", "const MAX_REMEMBERED = 10_001;"),
  shown("return accountVersion === undefined || this", "return this"),
  shown("accountVersion === undefined || this.#none.get(nameOf(keyId, surface)) !== accountVersion", "true"),
  shown("this.#none.get(nameOf(keyId, surface)) !== accountVersion", "!this.#none.has(nameOf(keyId, surface))"),
  shown(
    "this.#none.get(nameOf(keyId, surface)) !== accountVersion",
    "(this.#none.get(nameOf(keyId, surface)) ?? 0) < accountVersion",
  ),
  shown(' || verdict === "outdated"', ""),
  shown(' || verdict === "stale"', ""),
  shown(" || grantAmount >= 0", ""),
  shown("grantAmount >= 0", "grantAmount > 0"),
  shown("`${surface}:${keyId}`", "`${surface}`"),
  shown("`${surface}:${keyId}`", "`${keyId}`"),
];
