#!lua
-- Decides one request: admits it and charges both the account and the key, or refuses it and charges neither.
--
-- Keys, all in the hash slot of {account}:
--   1 account counter  "WINDOW:COUNT": the window, and what the account has used of the surface in it
--   2 key counter      "WINDOW:COUNT": the same for the key
--   3 key marker       "revoked", or the version of the account's record that last rotated the key; absent otherwise
--   4 account marker   present while the account is suspended
--   5 grants           hash of the key's grants for the surface: id -> "REMAINING:EXPIRES_AT_MS:AMOUNT"
-- Argument: one string of seven whole numbers, separated by spaces. The client sends one string faster than seven.
--   1 account limit, 2 key limit       requests per window, >= 0
--   3 window                           seconds, >= 1
--   4 cost                             requests, >= 1
--   5 deadline                         Redis's clock, ms; from then on nothing is charged; 0 for none
--   6 account version                  version of the account's record in which the replica looked the key up
--   7 secret's end                     when the secret of the request expires, Redis's clock, ms; 0 for never
-- Answer: one string of seven words, separated by spaces. The client reads one string faster than an array.
--   1 verdict                          admitted, granted, account_exhausted, key_exhausted, revoked, suspended, outdated,
--                                      replaced (src/limiter/decision.ts explains each), or stale: the deadline has passed
--   2 remaining account, 3 remaining key
--   4 reset                            ms to the window's end, >= 1
--   5 remaining grant                  requests that remain in the key's live grants; -1 without one
--   6 now                              Redis's clock, ms
--   7 grant amount                     requests for which those grants were issued; -1 without one
-- Cost: TIME, one MGET, one HGETALL. Then two SETs if admitted, or one HSET if granted. O(grants).
--
-- Every check comes before the first write, and nothing after that can fail, because Redis does not roll a script back.
-- Because of the shebang, Redis (>= 7.0) refuses the whole script before it starts if it could not write: on a replica,
-- out of memory, or with too few replicas.
-- A counter names its window, so its expiry only frees memory. If it expires late, no count leaks into the next window.

-- include shared.lua

-- Counters outlive their window by this much. They must still exist if the clock steps back into the window, as in a failover.
local OUTLIVES_MS = 10000

local given = { string.match(ARGV[1], '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$') }
local account_limit, key_limit = tonumber(given[1]), tonumber(given[2])
local window_ms, cost = tonumber(given[3]) * 1000, tonumber(given[4])
local deadline = tonumber(given[5])
local account_version, secret_ends_at = tonumber(given[6]), tonumber(given[7])

local now = clock_ms()
if deadline > 0 and now >= deadline then
  return string.format('stale 0 0 0 -1 %d -1', now)
end

local stored = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
local window, account_used, key_used = current_window(now, window_ms, KEYS[1], stored[1], KEYS[2], stored[2])
local window_end = (window + 1) * window_ms

local grant_remaining, grant_amount = -1, -1
local grant -- of the live grants that cover the cost, the one that expires first
local fields = redis.call('HGETALL', KEYS[5])
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

local function answer(verdict)
  local account_remaining = math.max(account_limit - account_used, 0)
  local key_remaining = math.max(key_limit - key_used, 0)
  local reset = window_end - now
  return string.format('%s %d %d %d %d %d %d', verdict, account_remaining, key_remaining, reset, grant_remaining, now, grant_amount)
end

local refusal = key_refusal(stored[3], stored[4], account_version, secret_ends_at, now)
if refusal then return answer(refusal) end

local account_exhausted = account_used + cost > account_limit
if account_exhausted or key_used + cost > key_limit then
  if not grant then return answer(account_exhausted and 'account_exhausted' or 'key_exhausted') end
  local value = string.format('%d:%d:%s', grant.remaining - cost, grant.expires_at, grant.amount)
  redis.call('HSET', KEYS[5], grant.id, value)
  grant_remaining = grant_remaining - cost
  return answer('granted')
end

account_used = account_used + cost
key_used = key_used + cost
local expires_at = string.format('%d', window_end + OUTLIVES_MS)
redis.call('SET', KEYS[1], string.format('%d:%d', window, account_used), 'PXAT', expires_at)
redis.call('SET', KEYS[2], string.format('%d:%d', window, key_used), 'PXAT', expires_at)
return answer('admitted')
