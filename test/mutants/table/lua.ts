import { changesOf, type Mutant } from "../mutant.ts";

const CHARGE = ["test/limiter/charge.test.ts"];
const BOUNDARY = ["test/limiter/boundary.test.ts"];
const MODEL = ["test/limiter/model.test.ts"];
const VERSIONS = ["test/limiter/account-versions.test.ts"];
const REFUSALS = ["test/limiter/key-refusal.test.ts"];
const ISSUE = ["test/grants/issue.test.ts"];

const shared = changesOf("lua/shared.lua");
const usage = changesOf("lua/usage.lua");
const fill = changesOf("lua/fill-grant.lua", ISSUE);

/** Every deciding line of what the scripts share, and of those that read the usage and fill a grant. */
export const scriptMutants: Mutant[] = [
  shared("stored[1], stored[2]", "stored[2], stored[1]", CHARGE),
  shared("window_seconds = window_seconds + 0", "window_seconds = 86400", BOUNDARY),
  shared("(seconds - seconds % window_seconds) / window_seconds", "seconds / window_seconds", CHARGE),
  shared("% window_seconds) / window_seconds", "% window_seconds) / window_seconds + 1", BOUNDARY),
  shared("(window_text or -1) + 0", "(window_text or window) + 0", CHARGE),
  shared("if ledger_window == window + 1 then", "if false then", CHARGE),
  shared("if ledger_window == window + 1 then", "if ledger_window > window then", CHARGE),
  shared("if ledger_window == window + 1 then", "if ledger_window == window + 2 then", CHARGE),
  shared("local is_current = ledger_window == window", "local is_current = true", CHARGE),
  shared("local is_current = ledger_window == window", "local is_current = ledger_window >= window", CHARGE),
  shared("local is_current = ledger_window == window", "local is_current = ledger_window <= window", CHARGE),
  shared("if not is_current then window_text", "if not window_text then window_text", CHARGE),
  shared("if version ~= account_version and account_version ~= '' and", "if version ~= account_version and", CHARGE),
  shared("(not version or version - account_version > 0)", "version and version - account_version > 0", VERSIONS),
  shared("(not version or version - account_version > 0)", "not version", VERSIONS),
  shared("(not version or version - account_version > 0)", "true", VERSIONS),
  shared("version - account_version > 0", "version > account_version", VERSIONS),
  shared("version - account_version > 0", "version - account_version > 1", VERSIONS),
  {
    file: "lua/shared.lua",
    before: "version ~= account_version and ",
    after: "",
    red: [],
    equal:
      "Versions of the same text are the same number, so neither is the newer one. The comparison only saves time.",
  },
  {
    file: "lua/shared.lua",
    before: "version - account_version > 0",
    after: "version - account_version >= 0",
    red: [],
    equal: "Versions of the same number are the same text, and that is compared before.",
  },
  shared("refusal = 'outdated'", "refusal = nil", VERSIONS),
  shared(
    "if version ~= account_version and",
    "if (secret_ends_at or '0') ~= '0' and now >= secret_ends_at + 0 then\n  refusal = 'replaced'\nelseif version ~= account_version and",
    REFUSALS,
  ),
  shared("elseif (secret_ends_at or '0') ~= '0' and now", "elseif now", CHARGE),
  shared("elseif (secret_ends_at or '0') ~= '0' and", "elseif secret_ends_at ~= '0' and", MODEL),
  shared("elseif (secret_ends_at or '0') ~= '0' and", "elseif secret_ends_at and", REFUSALS),
  shared("elseif (secret_ends_at or '0') ~= '0' and now >= secret_ends_at + 0 then", "elseif false then", REFUSALS),
  shared("now >= secret_ends_at + 0", "now > secret_ends_at + 0", BOUNDARY),
  shared("now >= secret_ends_at + 0", "now >= secret_ends_at + 1", BOUNDARY),
  shared("now >= secret_ends_at + 0", "now >= secret_ends_at - 1", BOUNDARY),
  usage("#!lua\n-- Returns whether", "#!lua flags=no-writes\n-- Returns whether", ["test/limiter/outage.test.ts"]),
  usage("seconds * 1000 + math.floor(time[2] / 1000)", "seconds * 1000", BOUNDARY),
  usage("math.floor(time[2] / 1000)", "time[2] / 1000", BOUNDARY),
  usage("ARGV[1], ARGV[2], ARGV[3]", "ARGV[1], ARGV[2], '0'", REFUSALS),
  usage("ARGV[1], ARGV[2], ARGV[3]", "ARGV[1], '', ARGV[3]", REFUSALS),
  usage("'version', 'window', unpack", "'window', 'version', unpack", MODEL),
  usage("is_current and (stored[i - 1] or 0) + 0 or 0", "(stored[i - 1] or 0) + 0", MODEL),
  usage("is_current and (stored[i - 1] or 0) + 0 or 0", "0", MODEL),
  usage("(stored[i - 1] or 0) + 0", "(stored[i] or 0) + 0", MODEL),
  usage("(stored[i - 1] or 0) + 0", "(stored[i - 1] or 0)", MODEL),
  usage("for i = 2, #KEYS do", "for i = 3, #KEYS do", MODEL),
  usage("redis.call('HGETALL', KEYS[i])", "redis.call('HGETALL', KEYS[2])", MODEL),
  usage("refusal or ''", "''", REFUSALS),
  usage("(window + 1) * window_seconds * 1000 - now", "window_seconds * 1000", BOUNDARY),
  usage("(window + 1) * window_seconds", "window * window_seconds", BOUNDARY),
  fill("if not value then return 0 end", "if not value then return 1 end"),
  fill("if not value then return 0 end", "if not value then value = '0:9999999999999:0' end"),
  fill("'^0:(%d+):0$'", "'^%d+:(%d+):%d+$'"),
  fill("'^0:(%d+):0$'", "'^0:(%d+):%d+$'"),
  fill("  redis.call('HSET', KEYS[1], ARGV[1], string.format('%s:%s:%s', ARGV[2], expires_at, ARGV[2]))\n", ""),
];
