#!lua
-- Fills a grant that was put down empty, once. Whether it was filled before is told by its value alone, so a command that was
-- cut off can be repeated; and a grant that is not there may have been given and lost, so it is not made here.
--
-- Keys:
--   1 grants of the key    hash, as in charge.lua: id -> "REMAINING:EXPIRES_AT_MS:AMOUNT"; put down empty "0:EXPIRES_AT_MS:0"
-- Arguments:
--   1 id of the grant
--   2 amount               requests, >= 1
-- Answer: 1 when it is filled, by this call or an earlier one; 0 when it is not there.

local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value then return 0 end
local expires_at = string.match(value, '^0:(%d+):0$')
if expires_at then
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%s:%s:%s', ARGV[2], expires_at, ARGV[2]))
end
return 1
