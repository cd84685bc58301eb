#!lua
-- Reads what one key and its account have used, charging nothing: every surface, the standing and the grants at once.
--
-- Keys, all in the hash slot of {account}:
--   1 key standing, 2 account standing, 3 grants of the key     as in charge.lua
--   4, 6, 8 …  account counter of each surface                  "WINDOW:COUNT", as in charge.lua
--   5, 7, 9 …  key counter of each surface
-- Arguments:
--   1 window                                                    seconds, >= 1
-- Answer:
--   1 now                                                       Redis's clock, ms
--   2 revoked, 3 suspended                                      0 or 1
--   4 grants                                                    as HGETALL: id, "REMAINING:EXPIRES_AT_MS:AMOUNT", …
--   5 counters                                                  used account, used key, ms to the window's end, …
-- Cost: TIME, one MGET, one HGETALL. O(surfaces + grants).
--
-- Without the flag no-writes on purpose: a replica then refuses it, and never answers with counts that lag behind.

local window_ms = tonumber(ARGV[1]) * 1000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local stored = redis.call('MGET', unpack(KEYS))

-- As in charge.lua.
local function parse(key, text)
  if not text then redis.call('GET', key) return nil, 0 end
  local window, count = string.match(text, '^(%d+):(%d+)$')
  if not window then error(redis.error_reply('CORRUPT counter ' .. key)) end
  return tonumber(window), tonumber(count)
end

local counters = {}
for i = 4, #KEYS, 2 do
  local account_window, account_used = parse(KEYS[i], stored[i])
  local key_window, key_used = parse(KEYS[i + 1], stored[i + 1])
  local window = math.floor(now / window_ms)
  if account_window == window + 1 or key_window == window + 1 then window = window + 1 end
  counters[#counters + 1] = account_window == window and account_used or 0
  counters[#counters + 1] = key_window == window and key_used or 0
  counters[#counters + 1] = (window + 1) * window_ms - now
end

return { now, stored[1] == 'revoked' and 1 or 0, stored[2] and 1 or 0, redis.call('HGETALL', KEYS[3]), counters }
