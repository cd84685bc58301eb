#!lua
-- Decides one request: admits it and charges both the account and the key, or refuses it and charges neither. If a window
-- is exhausted, draw-grant.lua decides next.
--
-- Keys. Exactly one, so that the script also runs while a Cluster moves its slot:
--   1 ledger           hash of what the account has used in one window (src/limiter/scripts.ts):
--                        window          number of the window; absent until the first charge
--                        version         the newest version of the account's record that Redis knows (raise-version.lua)
--                        SURFACE         what the account has used of the surface, in requests
--                        SURFACE:KEY     what the key has used of it; KEY is the key's id without key_
-- Arguments:
--   1 window                           seconds, >= 1
--   2 account version                  version of the account's record in which the replica looked the key up; empty for any
--   3 field of the account, 4 field of the key, in the ledger
--   5 account limit, 6 key limit       requests per window, >= 0
--   7 deadline                         Redis's clock, ms; from then on nothing is charged; 0 for none
--  Optional. Most calls leave both of them out, because Redis makes a string of each argument.
--   8 secret's end                     when the secret of the request expires, Redis's clock, ms; 0 for never, the default
--   9 cost                             requests, >= 1; the default is 1
-- Reply: one string of words, separated by spaces. The client reads one string faster than an array.
--   1 verdict                          admitted, account_exhausted, key_exhausted, outdated, replaced
--                                      (src/limiter/decision.ts explains each), or stale: the deadline has passed
--   2 used by the account, 3 used by the key   requests counted in the window before this one
--   4 window                           its number
--   5, 6 now                           Redis's clock, as TIME: seconds, and microseconds
-- Cost: TIME, one HMGET. Then one HSET if admitted, and DEL and PEXPIREAT for the first charge of a window.
--
-- Every check comes before the first write, and nothing after that can fail, because Redis does not roll a script back.
-- Because of the shebang, Redis (>= 7.0) refuses the whole script before it starts if it could not write: on a replica,
-- out of memory, or with too few replicas.
-- A ledger names its window, so its expiry only frees memory. If it expires late, no count leaks into the next window.
--
-- Every request waits for this script. So numbers stay text where that is enough, and become numbers by arithmetic: both
-- tonumber and a text made from a number cost as much as a tenth of a command. So the reply has the counts as they were
-- read, and the replica adds the charge.

-- A ledger is kept this long after its window, in ms: most clients poll every half hour, and none of them should find it gone.
-- Also, it must still exist if the clock steps back into the window, as in a failover.
local OUTLIVES_MS = 45 * 60 * 1000
-- The windows of all accounts end at once. If their ledgers expired at once, too, Redis would do nothing else for seconds.
local SPREAD_MS = 15 * 60 * 1000

local call = redis.call
local ledger = KEYS[1]
local window_seconds, account_version, account_field, key_field, account_limit, key_limit, deadline, secret_ends_at, cost =
  unpack(ARGV)
deadline, cost = deadline + 0, (cost or 1) + 0
if not (cost >= 1) then return redis.error_reply('ERR cost must be at least 1') end -- it would give requests back

local time = call('TIME')
local seconds = time[1] + 0
local now = seconds * 1000 + time[2] / 1000
if deadline > 0 and now >= deadline then
  return 'stale 0 0 0 ' .. time[1] .. ' ' .. time[2]
end

local stored = call('HMGET', ledger, 'version', 'window', account_field, key_field)

-- include shared.lua

local account_used, key_used = '0', '0'
if is_current then account_used, key_used = stored[3] or '0', stored[4] or '0' end
local account_after, key_after = account_used + cost, key_used + cost

local verdict = 'admitted'
if refusal then
  verdict = refusal
elseif account_after > account_limit + 0 then
  verdict = 'account_exhausted'
elseif key_after > key_limit + 0 then
  verdict = 'key_exhausted'
end

if verdict == 'admitted' then
  if is_current then
    call('HSET', ledger, account_field, account_after, key_field, key_after)
  else
    call('DEL', ledger)
    call('HSET', ledger, 'window', window_text, account_field, account_after, key_field, key_after)
    if version then call('HSET', ledger, 'version', version) end
    -- The microseconds at which an account's first charge comes spread the accounts.
    local expires_at = (window + 1) * window_seconds * 1000 + OUTLIVES_MS + time[2] / 1000000 * SPREAD_MS
    call('PEXPIREAT', ledger, string.format('%d', expires_at))
  end
end

return verdict .. ' ' .. account_used .. ' ' .. key_used .. ' ' .. window_text .. ' ' .. time[1] .. ' ' .. time[2]
