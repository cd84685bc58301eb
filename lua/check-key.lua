#!lua
-- Tells whether a key may be used, charging nothing: the first question of charge.lua, for routes without a limit.
--
-- Keys, both in the hash slot of {account}:
--   1 key marker, 2 account marker         as in charge.lua
-- Arguments:
--   1 account version, 2 secret's end      as in charge.lua, 7 and 8
-- Answer: nil if it may, else why not: revoked, suspended, outdated or replaced.
-- Cost: TIME, one MGET.
--
-- It has no flag no-writes, on purpose: usage.lua says why.

-- include shared.lua

local stored = redis.call('MGET', KEYS[1], KEYS[2])
return key_refusal(stored[1], stored[2], tonumber(ARGV[1]), tonumber(ARGV[2]), clock_ms())
