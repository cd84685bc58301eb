#!lua
-- Draws a request on the grants of its key, after charge.lua has replied that a window is exhausted. The counts of a
-- window never fall, so until its end the reply stays true.
--
-- Keys. Exactly one, so that the script also runs while a Cluster moves its slot:
--   1 grants of the key    hash: id -> "REMAINING:EXPIRES_AT_MS:AMOUNT"
-- Arguments:
--   1 cost                 requests, >= 1
--   2 deadline             Redis's clock, ms; from then on nothing is drawn; 0 for none
-- Reply: words, separated by spaces
--   1 outcome              drawn, none, or stale: the deadline has passed
--   2 remaining grant      requests that remain in the key's live grants; -1 without one
--   3 grant amount         requests for which those grants were issued; -1 without one
--   4, 5 now               Redis's clock, as TIME: seconds, and microseconds
-- Cost: TIME, one HGETALL, O(grants), and one HSET if drawn.

local cost, deadline = ARGV[1] + 0, ARGV[2] + 0
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
if deadline > 0 and now >= deadline then return 'stale -1 -1 ' .. time[1] .. ' ' .. time[2] end

local outcome, grant_remaining, grant_amount = 'none', -1, -1
local grant -- of the live grants that cover the cost, the one that expires first
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local id = fields[i]
  local remaining, expires_at, amount = string.match(fields[i + 1], '^(%d+):(%d+):(%d+)$')
  if not remaining then error(redis.error_reply('CORRUPT grant ' .. id)) end
  remaining, expires_at = tonumber(remaining), tonumber(expires_at)
  if expires_at > now then
    grant_remaining = math.max(grant_remaining, 0) + remaining
    grant_amount = math.max(grant_amount, 0) + tonumber(amount)
    local sooner = not grant or expires_at < grant.expires_at or (expires_at == grant.expires_at and id < grant.id)
    if remaining >= cost and sooner then
      grant = { id = id, remaining = remaining, expires_at = expires_at, amount = amount }
    end
  end
end
if grant then
  local value = string.format('%d:%d:%s', grant.remaining - cost, grant.expires_at, grant.amount)
  redis.call('HSET', KEYS[1], grant.id, value)
  grant_remaining = grant_remaining - cost
  outcome = 'drawn'
end

return outcome .. ' ' .. grant_remaining .. ' ' .. grant_amount .. ' ' .. time[1] .. ' ' .. time[2]
