#!lua
-- Returns what a key and its account have used of every surface, with the markers and the grants. Charges nothing.
--
-- Keys, all in the hash slot of {account}:
--   1 key marker, 2 account marker                             as in charge.lua
--   3, 6, 9 …   account counter of each surface                as in charge.lua
--   4, 7, 10 …  key counter of each surface
--   5, 8, 11 …  grants of the key for each surface
-- Arguments:
--   1 window                                                    seconds, >= 1
-- Answer:
--   1 now                                                       Redis's clock, ms
--   2 revoked, 3 suspended                                      0 or 1
--   4 surfaces                                                  for each: used account, used key, ms to the window's end,
--                                                               grants: { id, "REMAINING:EXPIRES_AT_MS:AMOUNT", id, … }
-- Cost: TIME, one MGET, one HGETALL for each surface. O(surfaces + grants).
--
-- It deliberately lacks the flag no-writes. So a Redis replica refuses to run it, and never answers with outdated counts.

-- include shared.lua

local window_ms = tonumber(ARGV[1]) * 1000
local now = clock_ms()
local stored = redis.call('MGET', unpack(KEYS))

local surfaces = {}
for i = 3, #KEYS, 3 do
  local window, account_used, key_used = current_window(now, window_ms, KEYS[i], stored[i], KEYS[i + 1], stored[i + 1])
  local grants = redis.call('HGETALL', KEYS[i + 2])
  surfaces[#surfaces + 1] = { account_used, key_used, (window + 1) * window_ms - now, grants }
end

return { now, stored[1] == 'revoked' and 1 or 0, stored[2] and 1 or 0, surfaces }
