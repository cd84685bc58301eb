#!lua
-- Fills a grant that was placed empty, once. The grant's value alone shows whether it was filled, so an interrupted
-- command can be repeated. A missing grant is not created again: it may have been filled, drawn on and then lost.
--
-- Keys:
--   1 grants of the key    hash, as in draw-grant.lua: id -> "REMAINING:EXPIRES_AT_MS:AMOUNT"; placed empty "0:EXPIRES_AT_MS:0"
-- Arguments:
--   1 id of the grant
--   2 amount               requests, >= 1
-- Reply: 1 if the grant is filled, by this call or an earlier one; 0 if it is missing.

local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value then return 0 end
local expires_at = string.match(value, '^0:(%d+):0$')
if expires_at then
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%s:%s:%s', ARGV[2], expires_at, ARGV[2]))
end
return 1
