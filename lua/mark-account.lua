#!lua
-- Marks an account as suspended, or removes that marker, which lua/charge.lua reads. A command that comes after one with a
-- newer record changes nothing.
--
-- Keys, both in the hash slot of {account}:
--   1 account marker       as in charge.lua
--   2 version              of the account's record that was published last
-- Arguments:
--   1 status               "suspended" or "active"
--   2 version              of the account's record with that status
--   3 lifetime             ms
--   4 restored             as in mark-key.lua, 3
-- Answer: 1 if the status is published; 0 if a newer record is.

local version = tonumber(ARGV[2])
local published = redis.call('GET', KEYS[2])
local restored = ARGV[4] == '1'
if published and tonumber(published) > version and not restored then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
if ARGV[1] == 'suspended' then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
else
  redis.call('DEL', KEYS[1])
end
return 1
