#!lua
-- Decides one request: admits it and charges both the account and the key, or refuses it and charges neither.
--
-- Keys, both in the hash slot of {account}:
--   1 ledger           hash of what the account has used in one window (src/limiter/redis-keys.ts):
--                        window          number of the window; absent until the first charge
--                        version         the newest version of the account's record that Redis knows (raise-version.lua)
--                        SURFACE         what the account has used of the surface, in requests
--                        SURFACE:KEY_ID  what the key has used of it
--   2 grants           hash of the key's grants for the surface: id -> "REMAINING:EXPIRES_AT_MS:AMOUNT"
-- Arguments:
--   1 window                           seconds, >= 1
--   2 account version                  version of the account's record in which the replica looked the key up; empty for any
--   3 secret's end                     when the secret of the request expires, Redis's clock, ms; 0 for never
--   4 field of the account, 5 field of the key, in the ledger
--   6 account limit, 7 key limit       requests per window, >= 0
--   8 deadline                         Redis's clock, ms; from then on nothing is charged; 0 for none
--   9 show grants                      "1" to say in every answer what remains of the key's grants; "0" if it may be left out
--   10 cost                            requests, >= 1; left out for 1
-- Answer: one string of words, separated by spaces. The client reads one string faster than an array.
--   1 verdict                          admitted, granted, account_exhausted, key_exhausted, outdated, replaced
--                                      (src/limiter/decision.ts explains each), or stale: the deadline has passed
--   2 used by the account, 3 used by the key   requests in the window, this one included if it was admitted
--   4 window                           its number
--   5, 6 now                           Redis's clock, as TIME: seconds, and microseconds
--   7 remaining grant                  requests that remain in the key's live grants; -1 without one, or if they are not read
--   8 grant amount                     requests for which those grants were issued; -1 likewise
-- Cost: TIME, one HMGET. Then one HSET if admitted, and DEL and PEXPIREAT for the first charge of a window. The grants are
-- read (HGETALL, O(grants)) only if they are to be shown or a window is exhausted.
--
-- Every check comes before the first write, and nothing after that can fail, because Redis does not roll a script back.
-- Because of the shebang, Redis (>= 7.0) refuses the whole script before it starts if it could not write: on a replica,
-- out of memory, or with too few replicas.
-- A ledger names its window, so its expiry only frees memory. If it expires late, no count leaks into the next window.
--
-- Every request waits for this script. So numbers stay text where that is enough, and become numbers by arithmetic: both
-- tonumber and a text made from a number cost as much as a tenth of a command.

-- A ledger is kept this long after its window, in ms: most clients poll every half hour, and none of them shall find it gone.
-- Also, it must still exist if the clock steps back into the window, as in a failover.
local OUTLIVES_MS = 45 * 60 * 1000
-- The windows of all accounts end at once. If their ledgers expired at once, too, Redis would do nothing else for seconds.
local SPREAD_MS = 15 * 60 * 1000

local account_field, key_field = ARGV[4], ARGV[5]
local deadline = ARGV[8] + 0
local cost = (ARGV[10] or 1) + 0

local time = redis.call('TIME')
local seconds = time[1] + 0
local now = seconds * 1000 + time[2] / 1000
if deadline > 0 and now >= deadline then
  return 'stale 0 0 0 ' .. time[1] .. ' ' .. time[2] .. ' -1 -1'
end

local stored = redis.call('HMGET', KEYS[1], 'version', 'window', account_field, key_field)

-- include shared.lua

local account_used, key_used = '0', '0'
if is_current then account_used, key_used = stored[3] or '0', stored[4] or '0' end
local account_after, key_after = account_used + cost, key_used + cost

local verdict = 'admitted'
local exhausted = false
if refusal then
  verdict = refusal
elseif account_after > ARGV[6] + 0 then
  exhausted, verdict = true, 'account_exhausted'
elseif key_after > ARGV[7] + 0 then
  exhausted, verdict = true, 'key_exhausted'
end

local grant_remaining, grant_amount = '-1', '-1'
if exhausted or ARGV[9] == '1' then
  local grant -- of the live grants that cover the cost, the one that expires first
  local fields = redis.call('HGETALL', KEYS[2])
  for i = 1, #fields, 2 do
    local id = fields[i]
    local remaining, expires_at, amount = string.match(fields[i + 1], '^(%d+):(%d+):(%d+)$')
    if not remaining then error(redis.error_reply('CORRUPT grant ' .. id)) end
    remaining, expires_at = tonumber(remaining), tonumber(expires_at)
    if expires_at > now then
      grant_remaining = math.max(grant_remaining, 0) + remaining
      grant_amount = math.max(grant_amount, 0) + tonumber(amount)
      local sooner = not grant or expires_at < grant.expires_at or (expires_at == grant.expires_at and id < grant.id)
      if remaining >= cost and sooner then
        grant = { id = id, remaining = remaining, expires_at = expires_at, amount = amount }
      end
    end
  end
  if exhausted and grant then
    local value = string.format('%d:%d:%s', grant.remaining - cost, grant.expires_at, grant.amount)
    redis.call('HSET', KEYS[2], grant.id, value)
    grant_remaining = grant_remaining - cost
    verdict = 'granted'
  end
end

if verdict == 'admitted' then
  account_used, key_used = account_after .. '', key_after .. ''
  if is_current then
    redis.call('HSET', KEYS[1], account_field, account_used, key_field, key_used)
  else
    redis.call('DEL', KEYS[1])
    redis.call('HSET', KEYS[1], 'window', window_text, account_field, account_used, key_field, key_used)
    if version then redis.call('HSET', KEYS[1], 'version', version) end
    -- The microseconds at which an account's first charge comes spread the accounts.
    local expires_at = (window + 1) * window_seconds * 1000 + OUTLIVES_MS + time[2] / 1000000 * SPREAD_MS
    redis.call('PEXPIREAT', KEYS[1], string.format('%d', expires_at))
  end
end

return verdict .. ' ' .. account_used .. ' ' .. key_used .. ' ' .. window_text .. ' ' .. time[1] .. ' ' .. time[2]
  .. ' ' .. grant_remaining .. ' ' .. grant_amount
