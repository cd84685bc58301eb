import { changesOf, type Mutant } from "../mutant.ts";

const CHARGE = ["test/limiter/charge.test.ts"];
const BOUNDARY = ["test/limiter/boundary.test.ts"];
const MODEL = ["test/limiter/model.test.ts"];
const VERSIONS = ["test/limiter/account-versions.test.ts"];

const row = changesOf("lua/charge.lua");

/** Every deciding line of lua/charge.lua, but those about grants (lua-charge-grants.ts). */
export const chargeMutants: Mutant[] = [
  row("#!lua\n-- Decides one request", "-- Decides one request", ["test/limiter/outage.test.ts"]),
  row("local OUTLIVES_MS = 45 * 60 * 1000", "local OUTLIVES_MS = 44 * 60 * 1000", BOUNDARY),
  row("local OUTLIVES_MS = 45 * 60 * 1000", "local OUTLIVES_MS = 0", CHARGE),
  row("local SPREAD_MS = 15 * 60 * 1000", "local SPREAD_MS = 14 * 60 * 1000", BOUNDARY),
  row("local SPREAD_MS = 15 * 60 * 1000", "local SPREAD_MS = 0", CHARGE),
  row("account_field, key_field, account_limit", "key_field, account_field, account_limit", CHARGE),
  row("deadline, cost = deadline + 0", "deadline, cost = 0", ["test/limiter/outage.test.ts"]),
  row("(cost or 1) + 0", "1", CHARGE),
  row("(cost or 1) + 0", "(cost or 2) + 0", CHARGE),
  row("seconds * 1000 + time[2] / 1000", "seconds * 1000", BOUNDARY),
  row("if deadline > 0 and now >= deadline then", "if now >= deadline then", MODEL),
  row("if deadline > 0 and now >= deadline then", "if deadline > 0 and now >= deadline + 1 then", BOUNDARY),
  row("if deadline > 0 and now >= deadline then", "if deadline > 0 and now >= deadline - 1 then", BOUNDARY),
  row("'stale 0 0 0 ' .. time[1] .. ' ' .. time[2]", "'stale 0 0 0 0 0'", BOUNDARY),
  row("'version', 'window', account_field, key_field)", "'version', 'window', key_field, account_field)", CHARGE),
  row("'version', 'window', account_field", "'window', 'version', account_field", CHARGE),
  row("account_used, key_used = '0', '0'", "account_used, key_used = '1', '0'", MODEL),
  row("account_used, key_used = '0', '0'", "account_used, key_used = '0', '1'", MODEL),
  row("if is_current then account_used, key_used", "if true then account_used, key_used", CHARGE),
  row("if is_current then account_used, key_used", "if false then account_used, key_used", CHARGE),
  row("stored[3] or '0'", "stored[3]", MODEL),
  row("stored[4] or '0'", "stored[4]", CHARGE),
  row("account_used + cost, key_used + cost", "account_used + 1, key_used + cost", MODEL),
  row("account_used + cost, key_used + cost", "account_used + cost, key_used + 1", CHARGE),
  row("if refusal then", "if false then", VERSIONS),
  row("if refusal then", "if refusal and account_after <= account_limit + 0 then", MODEL),
  row("if refusal then", "if refusal and key_after <= key_limit + 0 then", MODEL),
  row("elseif account_after > account_limit + 0 then", "elseif account_after >= account_limit + 0 then", CHARGE),
  row("elseif account_after > account_limit + 0 then", "elseif account_after > account_limit + 1 then", CHARGE),
  row("elseif account_after > account_limit + 0 then", "elseif account_after > key_limit + 0 then", CHARGE),
  row("elseif account_after > account_limit + 0 then", "elseif false then", CHARGE),
  row(
    "account_after > account_limit + 0 then",
    "account_after > account_limit + 0 and key_after <= key_limit + 0 then",
    CHARGE,
  ),
  row("elseif key_after > key_limit + 0 then", "elseif key_after >= key_limit + 0 then", CHARGE),
  row("elseif key_after > key_limit + 0 then", "elseif key_after > key_limit + 1 then", CHARGE),
  row("elseif key_after > key_limit + 0 then", "elseif key_after > account_limit + 0 then", CHARGE),
  row("elseif key_after > key_limit + 0 then", "elseif false then", CHARGE),
  row("exhausted, verdict = true, 'account_exhausted'", "exhausted, verdict = true, 'key_exhausted'", CHARGE),
  row("exhausted, verdict = true, 'key_exhausted'", "exhausted, verdict = true, 'account_exhausted'", CHARGE),
  row("if verdict == 'admitted' then", "if true then", CHARGE),
  row("if verdict == 'admitted' then", "if not exhausted then", ["test/limiter/key-refusal.test.ts"]),
  row("if verdict == 'admitted' then", "if verdict == 'admitted' or verdict == 'granted' then", [
    "test/limiter/charge-grants.test.ts",
  ]),
  row("  if is_current then\n", "  if true then\n", CHARGE),
  row("  if is_current then\n", "  if false then\n", CHARGE),
  row("    call('HSET', ledger, account_field, account_after, key_field, key_after)\n", "", CHARGE),
  row(
    "ledger, account_field, account_after, key_field, key_after)\n  else",
    "ledger, key_field, key_after)\n  else",
    CHARGE,
  ),
  row(
    "ledger, account_field, account_after, key_field, key_after)\n  else",
    "ledger, account_field, account_after)\n  else",
    CHARGE,
  ),
  row("    call('DEL', ledger)\n", "", CHARGE),
  row(
    "'window', window_text, account_field, account_after, key_field",
    "account_field, account_after, key_field",
    CHARGE,
  ),
  row("'window', window_text, account_field, account_after, ", "'window', window_text, ", CHARGE),
  row(
    "window_text, account_field, account_after, key_field, key_after)",
    "window_text, account_field, account_after)",
    CHARGE,
  ),
  row("    if version then call('HSET', ledger, 'version', version) end\n", "", CHARGE),
  row("if version then call", "if true then call", CHARGE),
  row("(window + 1) * window_seconds", "window * window_seconds", CHARGE),
  row("+ OUTLIVES_MS + time", "+ time", CHARGE),
  row(" + time[2] / 1000000 * SPREAD_MS", "", CHARGE),
  row("time[2] / 1000000 * SPREAD_MS", "SPREAD_MS", CHARGE),
  row("    call('PEXPIREAT', ledger, string.format('%d', expires_at))\n", "", CHARGE),
  row(
    "account_used .. ' ' .. key_used .. ' ' .. window_text",
    "key_used .. ' ' .. account_used .. ' ' .. window_text",
    CHARGE,
  ),
  row(" .. window_text .. ' ' .. time[1]", " .. '0' .. ' ' .. time[1]", BOUNDARY),
  row("window_text .. ' ' .. time[1] .. ' ' .. time[2]", "window_text .. ' ' .. time[1] .. ' 0'", BOUNDARY),
];
