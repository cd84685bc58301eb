#!lua
-- Checks whether a key may be used, as charge.lua does first, but charges nothing. For routes without a limit.
--
-- Keys, both in the hash slot of {account}:
--   1 key marker, 2 account marker         as in charge.lua
-- Arguments:
--   1 account version, 2 secret's end      as in charge.lua, 7 and 8
-- Answer: nil if the key may be used, else the reason: revoked, suspended, outdated or replaced.
-- Cost: TIME, one MGET.
--
-- It deliberately lacks the flag no-writes: see usage.lua.

-- include shared.lua

local stored = redis.call('MGET', KEYS[1], KEYS[2])
return key_refusal(stored[1], stored[2], tonumber(ARGV[1]), tonumber(ARGV[2]), clock_ms())
