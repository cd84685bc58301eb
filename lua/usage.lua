#!lua
-- Returns whether a key may be used, and what it and its account have used of every surface, with the grants. Charges
-- nothing.
--
-- Keys, all in the hash slot of {account}:
--   1 key marker, 2 account marker                             as in charge.lua
--   3, 6, 9 …   account counter of each surface                as in charge.lua
--   4, 7, 10 …  key counter of each surface
--   5, 8, 11 …  grants of the key for each surface
-- Arguments:
--   1 window                                                    seconds, >= 1
--   2 account version, 3 secret's end                           as in charge.lua, 6 and 7
-- Answer:
--   1 now                                                       Redis's clock, ms
--   2 refusal                                                   why the key may not be used: revoked, suspended, outdated or
--                                                               replaced; empty if it may
--   3 surfaces                                                  for each: used account, used key, ms to the window's end,
--                                                               grants: { id, "REMAINING:EXPIRES_AT_MS:AMOUNT", id, … }
-- Cost: TIME, one MGET, one HGETALL for each surface. O(surfaces + grants).
--
-- It deliberately lacks the flag no-writes. So a Redis replica refuses to run it, and never answers with outdated counts.

-- include shared.lua

local window_ms = tonumber(ARGV[1]) * 1000
local account_version, secret_ends_at = tonumber(ARGV[2]), tonumber(ARGV[3])
local now = clock_ms()
local stored = redis.call('MGET', unpack(KEYS))

local surfaces = {}
for i = 3, #KEYS, 3 do
  local window, account_used, key_used = current_window(now, window_ms, KEYS[i], stored[i], KEYS[i + 1], stored[i + 1])
  local grants = redis.call('HGETALL', KEYS[i + 2])
  surfaces[#surfaces + 1] = { account_used, key_used, (window + 1) * window_ms - now, grants }
end

return { now, key_refusal(stored[1], stored[2], account_version, secret_ends_at, now) or '', surfaces }
