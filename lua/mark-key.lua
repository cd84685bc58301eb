#!lua
-- Sets a key's marker, which lua/charge.lua reads. Never takes it back: two commands may write the store in one order and
-- reach Redis in the other, and the older one must not undo the newer one, not even for a moment.
--
-- Keys:
--   1 key marker           as in charge.lua
-- Arguments:
--   1 marker               "revoked", or the version of the account's record that rotated the key
--   2 lifetime             ms
--   3 restored             "1" if the store was restored from a backup, so that its records have lower versions; else "0"
-- Answer: 1 if the marker is set; 0 if a revocation, or a newer rotation, is already marked.

local stored = redis.call('GET', KEYS[1])
local version = tonumber(ARGV[1])
local restored = ARGV[3] == '1'
if stored and version and (stored == 'revoked' or (tonumber(stored) > version and not restored)) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
