#!lua
-- Tells Redis a version of an account's record. charge.lua compares it with the version in which a replica looked a key up.
-- Only `admin accounts announce` lowers a version (argument 4). A lookup that comes late, or a command that another one
-- overtook, does not.
--
-- Keys:
--   1 ledger               as in charge.lua
-- Arguments:
--   1 version              whole number, >= 1
--   2 lifetime             ms; the version is kept at least this long
--   3 deadline             Redis's clock, ms; from then on nothing is changed; 0 for none
--   4 over                 lower the version if it is this one: `admin accounts announce` after a restore of the store,
--                          whose records then have lower versions; 0 for none
-- Reply: the version that Redis knows now; 0 if the deadline has passed.

local version, deadline, over = tonumber(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if deadline > 0 and now >= deadline then return 0 end

local known = tonumber(redis.call('HGET', KEYS[1], 'version') or 0)
if known > version and known ~= over then return known end
redis.call('HSET', KEYS[1], 'version', ARGV[1])
-- GT never sets an expiry on a key that has none, so NX comes first.
local expires_at = string.format('%d', now + tonumber(ARGV[2]))
redis.call('PEXPIREAT', KEYS[1], expires_at, 'NX')
redis.call('PEXPIREAT', KEYS[1], expires_at, 'GT')
return version
