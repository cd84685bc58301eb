import type { Mutant } from "../mutant.ts";

/** What protects the markers of keys and accounts: no command takes back what a newer one has marked. */
export const markerMutants: readonly Mutant[] = [
  {
    file: "lua/mark-key.lua",
    before: "stored == 'revoked' or ",
    after: "stored ~= 'revoked' and ",
    red: ["test/limiter/key-markers.test.ts"],
  },
  {
    file: "lua/mark-key.lua",
    before: "tonumber(stored) > version and not restored",
    after: "false",
    red: ["test/limiter/key-markers.test.ts"],
  },
  {
    file: "lua/mark-key.lua",
    before: "tonumber(stored) > version and not restored",
    after: "tonumber(stored) >= version and not restored",
    red: [],
    equal:
      "A marker of the same version is the same text, so it does not matter whether it is written again; only its lifetime is renewed, and replicas cache for at most a minute.",
  },
  {
    file: "lua/mark-key.lua",
    before: "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])",
    after: "",
    red: ["test/limiter/charge.test.ts"],
  },
  {
    file: "lua/mark-key.lua",
    before: "ARGV[1], 'PX', ARGV[2])",
    after: "ARGV[1])",
    red: ["test/limiter/charge.test.ts"],
  },
  {
    file: "lua/mark-account.lua",
    before: "tonumber(published) > version",
    after: "false",
    red: ["test/limiter/key-markers.test.ts"],
  },
  {
    file: "lua/mark-account.lua",
    before: "tonumber(published) > version",
    after: "tonumber(published) >= version",
    red: ["test/limiter/key-markers.test.ts"],
  },
  {
    file: "lua/mark-account.lua",
    before: "redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])\n",
    after: "",
    red: ["test/limiter/key-markers.test.ts"],
  },
  {
    file: "lua/mark-account.lua",
    before: "if ARGV[1] == 'suspended' then",
    after: "if false then",
    red: ["test/limiter/charge.test.ts"],
  },
  {
    file: "lua/mark-account.lua",
    before: "redis.call('DEL', KEYS[1])",
    after: "",
    red: ["test/limiter/charge.test.ts"],
  },
  {
    file: "lua/mark-key.lua",
    before: "ARGV[3] == '1'",
    after: "false",
    red: ["test/accounts/restored.test.ts"],
  },
  {
    file: "lua/mark-account.lua",
    before: "ARGV[4] == '1'",
    after: "false",
    red: ["test/accounts/restored.test.ts"],
  },
];
