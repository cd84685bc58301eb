#!lua
-- Says what keeps a key from being used at all, charging nothing: what charge.lua asks first, for surfaces without a limit.
--
-- Keys, both in the hash slot of {account}:
--   1 key standing, 2 account standing   as in charge.lua
-- Arguments:
--   1 version, 2 end                     as in charge.lua, 7 and 8
-- Answer: 0 for nothing; else the verdict of charge.lua: 3 revoked, 4 suspended, 6 outdated, 7 replaced.
-- Cost: TIME, one MGET.
--
-- Without the flag no-writes on purpose, as usage.lua.

local version, secret_end = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stored = redis.call('MGET', KEYS[1], KEYS[2])

if stored[1] == 'revoked' then return 3 end
if stored[2] then return 4 end
if stored[1] and tonumber(stored[1]) > version then return 6 end
if secret_end > 0 and now >= secret_end then return 7 end
return 0
