#!lua
-- Decides one request: admits it and charges the account and the key, or refuses it and charges neither.
--
-- Keys, all in the hash slot of {account}:
--   1 account counter  "WINDOW:COUNT"  what the account has used of the surface, and in which window
--   2 key counter      "WINDOW:COUNT"  the same for the key
--   3 key standing     "revoked", or the version of the account's record that last rotated the key; absent for neither
--   4 account standing present while the account is suspended
--   5 grants           hash of the key's grants: id -> "REMAINING:EXPIRES_AT_MS:AMOUNT"
-- Arguments:
--   1 account limit, 2 key limit       requests a window, >= 0
--   3 window                           seconds, >= 1
--   4 cost                             requests, >= 1
--   5 draws                            1 where the surface may draw on grants, else 0
--   6 deadline                         Redis's clock, ms; from then on nothing is charged; 0 for none
--   7 version                          of the account's record by which the replica knows the key
--   8 end                              of the secret that came with it, Redis's clock, ms; 0 for none
-- Answer, integers:
--   1 verdict                          see below
--   2 remaining account, 3 remaining key
--   4 reset                            ms to the window's end, >= 1
--   5 remaining grant                  of all live grants of the key; -1 without one
--   6 now                              Redis's clock, ms
--   7 grant amount                     of all live grants of the key, as issued; -1 without one
-- Cost: TIME, one MGET, HGETALL where the surface draws; admitted, two SET (or one HSET drawn from a grant). O(grants).
--
-- Everything is checked before the first write, and nothing after it can fail: a script is not rolled back.
-- The shebang makes Redis (>= 7.0) refuse the whole script, before it starts, where a write could not be taken:
-- on a replica, out of memory, with too few replicas.
-- A counter names its window, so its expiry only frees memory: a key that lives a millisecond too long leaks no count.

-- A counter outlives its window by this much: the clock may step back across the edge, as in a failover, and find it still there.
local OUTLIVES_MS = 10000

local ADMITTED, ACCOUNT_EXHAUSTED, KEY_EXHAUSTED, REVOKED, SUSPENDED, GRANTED, OUTDATED, REPLACED, STALE =
  0, 1, 2, 3, 4, 5, 6, 7, 8

local account_limit, key_limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local window_ms, cost = tonumber(ARGV[3]) * 1000, tonumber(ARGV[4])
local draws, deadline = ARGV[5] == '1', tonumber(ARGV[6])
local version, secret_end = tonumber(ARGV[7]), tonumber(ARGV[8])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if deadline > 0 and now >= deadline then
  return { STALE, 0, 0, 0, -1, now, -1 }
end

local stored = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])

local function parse(key, text)
  -- MGET is silent about a key of another type; GET raises WRONGTYPE.
  if not text then redis.call('GET', key) return nil, 0 end
  local window, count = string.match(text, '^(%d+):(%d+)$')
  if not window then error(redis.error_reply('CORRUPT counter ' .. key)) end
  return tonumber(window), tonumber(count)
end

local account_window, account_used = parse(KEYS[1], stored[1])
local key_window, key_used = parse(KEYS[2], stored[2])

-- A counter one window ahead was charged before the clock stepped back: that window goes on. Any other is over.
local window = math.floor(now / window_ms)
if account_window == window + 1 or key_window == window + 1 then window = window + 1 end
if account_window ~= window then account_used = 0 end
if key_window ~= window then key_used = 0 end
local window_end = (window + 1) * window_ms

local grant_remaining, grant_amount = -1, -1
local grant -- the live one that expires first and covers the cost
if draws then
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
end

local function answer(verdict)
  local account_remaining = math.max(account_limit - account_used, 0)
  local key_remaining = math.max(key_limit - key_used, 0)
  return { verdict, account_remaining, key_remaining, window_end - now, grant_remaining, now, grant_amount }
end

if stored[3] == 'revoked' then return answer(REVOKED) end
if stored[4] then return answer(SUSPENDED) end
-- Rotated since the replica looked: it has to look again before the key counts as good.
if stored[3] and tonumber(stored[3]) > version then return answer(OUTDATED) end
if secret_end > 0 and now >= secret_end then return answer(REPLACED) end

local account_exhausted = account_used + cost > account_limit
if account_exhausted or key_used + cost > key_limit then
  if not grant then return answer(account_exhausted and ACCOUNT_EXHAUSTED or KEY_EXHAUSTED) end
  local value = string.format('%d:%d:%s', grant.remaining - cost, grant.expires_at, grant.amount)
  redis.call('HSET', KEYS[5], grant.id, value)
  grant_remaining = grant_remaining - cost
  return answer(GRANTED)
end

account_used = account_used + cost
key_used = key_used + cost
local expires_at = string.format('%d', window_end + OUTLIVES_MS)
redis.call('SET', KEYS[1], string.format('%d:%d', window, account_used), 'PXAT', expires_at)
redis.call('SET', KEYS[2], string.format('%d:%d', window, key_used), 'PXAT', expires_at)
return answer(ADMITTED)
