import { changesOf, type Mutant } from "../mutant.ts";

const GRANTS = ["test/limiter/charge-grants.test.ts"];
const SHOWN = ["test/limiter/charge-shown-grants.test.ts"];
const BOUNDARY = ["test/limiter/boundary.test.ts"];
const MODEL = ["test/limiter/model.test.ts"];

const row = changesOf("lua/charge.lua");

/** What lua/charge.lua does with grants: when it reads them, which one it draws on, and what it says of them. */
export const chargeGrantMutants: Mutant[] = [
  row("exhausted, verdict = true, 'account_exhausted'", "verdict = 'account_exhausted'", GRANTS),
  row("exhausted, verdict = true, 'key_exhausted'", "verdict = 'key_exhausted'", GRANTS),
  row("grant_remaining, grant_amount = '-1', '-1'", "grant_remaining, grant_amount = '0', '-1'", GRANTS),
  row("grant_remaining, grant_amount = '-1', '-1'", "grant_remaining, grant_amount = '-1', '0'", BOUNDARY),
  row("if exhausted or show_grants == '1' then", "if exhausted then", SHOWN),
  row("if exhausted or show_grants == '1' then", "if show_grants == '1' then", SHOWN),
  row("if exhausted or show_grants == '1' then", "if true then", SHOWN),
  row("call('HGETALL', KEYS[2])", "call('HGETALL', ledger)", GRANTS),
  row("for i = 1, #fields, 2 do", "for i = 1, math.min(#fields, 2), 2 do", GRANTS),
  row(
    "if not remaining then error(redis.error_reply('CORRUPT grant ' .. id)) end",
    "if not remaining then remaining, expires_at, amount = 0, 0, 0 end",
    ["test/limiter/outage.test.ts"],
  ),
  row("  if expires_at > now then", "  if true then", GRANTS),
  row("  if expires_at > now then", "  if expires_at > now - 1 then", BOUNDARY),
  row("  if expires_at > now then", "  if expires_at > now + 1 then", BOUNDARY),
  row("grant_remaining = math.max(grant_remaining, 0) + remaining", "grant_remaining = remaining", GRANTS),
  row("math.max(grant_remaining, 0) + remaining", "grant_remaining + remaining", GRANTS),
  row("grant_amount = math.max(grant_amount, 0) + tonumber(amount)", "grant_amount = tonumber(amount)", GRANTS),
  row("math.max(grant_amount, 0) + tonumber(amount)", "grant_amount + tonumber(amount)", GRANTS),
  row("not grant or expires_at < grant.expires_at or", "not grant or expires_at > grant.expires_at or", GRANTS),
  row("not grant or expires_at < grant.expires_at or", "not grant or", GRANTS),
  row(
    "(expires_at == grant.expires_at and id < grant.id)",
    "(expires_at == grant.expires_at and id > grant.id)",
    GRANTS,
  ),
  row("(expires_at == grant.expires_at and id < grant.id)", "id < grant.id", GRANTS),
  row("if remaining >= cost and sooner then", "if remaining > cost and sooner then", GRANTS),
  row("if remaining >= cost and sooner then", "if remaining >= 1 and sooner then", MODEL),
  row("if remaining >= cost and sooner then", "if remaining >= cost then", GRANTS),
  row("if remaining >= cost and sooner then", "if sooner then", GRANTS),
  row("if exhausted and grant then", "if grant then", GRANTS),
  row("if exhausted and grant then", "if false then", GRANTS),
  row(
    "grant.remaining - cost, grant.expires_at, grant.amount)",
    "grant.remaining, grant.expires_at, grant.amount)",
    GRANTS,
  ),
  row("grant.remaining - cost, grant.expires_at", "grant.remaining - 1, grant.expires_at", MODEL),
  row("- cost, grant.expires_at, grant.amount)", "- cost, grant.expires_at, grant.remaining)", GRANTS),
  row("- cost, grant.expires_at, grant.amount)", "- cost, 9999999999999, grant.amount)", GRANTS),
  row("    call('HSET', KEYS[2], grant.id, value)\n", "", GRANTS),
  row("    grant_remaining = grant_remaining - cost\n", "", GRANTS),
  row("    verdict = 'granted'\n", "", GRANTS),
  row("  grants = ' ' .. grant_remaining .. ' ' .. grant_amount\n", "", GRANTS),
  row("grant_remaining .. ' ' .. grant_amount", "grant_amount .. ' ' .. grant_remaining", GRANTS),
];
