#!lua
-- Returns whether a key may be used, and what it and its account have used of every surface. Charges nothing.
--
-- Key:
--   1 ledger                                                    as in charge.lua
-- Arguments:
--   1 window, 2 account version                                 as in charge.lua
--   3 secret's end                                              as in charge.lua, 8
--   4, 6 …  field of the account for each surface               in the ledger
--   5, 7 …  field of the key for each surface
-- Reply:
--   1 now                                                       Redis's clock, ms
--   2 refusal                                                   why the key may not be used: outdated or replaced; empty if
--                                                               it may
--   3 reset                                                     ms to the window's end, >= 1
--   4 used                                                      requests: of the account, of the key, for each surface
-- Cost: TIME, one HMGET. O(surfaces).
--
-- It deliberately lacks the flag no-writes. So a Redis replica refuses to run it, and never returns outdated counts.

local window_seconds, account_version, secret_ends_at = ARGV[1], ARGV[2], ARGV[3]
local time = redis.call('TIME')
local seconds = time[1] + 0
local now = seconds * 1000 + math.floor(time[2] / 1000)
local stored = redis.call('HMGET', KEYS[1], 'version', 'window', unpack(ARGV, 4))

-- include shared.lua

local used = {}
for i = 4, #ARGV do
  used[#used + 1] = is_current and (stored[i - 1] or 0) + 0 or 0
end

return { now, refusal or '', (window + 1) * window_seconds * 1000 - now, used }
