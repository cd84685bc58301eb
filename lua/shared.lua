-- What several scripts need. src/infra/scripts.ts puts this text where a script says "-- include shared.lua".

-- Redis's clock, in milliseconds.
local function clock_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A counter "WINDOW:COUNT" as window and count. A counter that does not exist has no window and counts 0.
local function parse_counter(key, text)
  -- MGET is silent about a key of another type; GET raises WRONGTYPE.
  if not text then redis.call('GET', key) return nil, 0 end
  local window, count = string.match(text, '^(%d+):(%d+)$')
  if not window then error(redis.error_reply('CORRUPT counter ' .. key)) end
  return tonumber(window), tonumber(count)
end

-- The window that a surface's two counters are in, and what the account and the key have used of it.
-- A counter that is one window ahead was charged before the clock stepped back: that window continues. A counter of any
-- other window has expired.
local function current_window(now, window_ms, account_key, account_text, key_key, key_text)
  local account_window, account_used = parse_counter(account_key, account_text)
  local key_window, key_used = parse_counter(key_key, key_text)
  local window = math.floor(now / window_ms)
  if account_window == window + 1 or key_window == window + 1 then window = window + 1 end
  return window, account_window == window and account_used or 0, key_window == window and key_used or 0
end

-- Why the key may not be used at all; nil if it may.
local function key_refusal(key_marker, account_marker, account_version, secret_ends_at, now)
  if key_marker == 'revoked' then return 'revoked' end
  if account_marker then return 'suspended' end
  -- Rotated since the replica looked the key up: the replica must look it up again.
  if key_marker and tonumber(key_marker) > account_version then return 'outdated' end
  if secret_ends_at > 0 and now >= secret_ends_at then return 'replaced' end
  return nil
end
