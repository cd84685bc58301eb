-- Functions that several scripts share. src/infra/scripts.ts inserts them at the line "-- include shared.lua".

-- Returns the time on Redis's clock, in milliseconds.
local function clock_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Parses a counter "WINDOW:COUNT". Returns window and count; nil and 0 if the counter does not exist.
local function parse_counter(key, text)
  -- MGET returns nil for a key of another type, too. GET raises WRONGTYPE for it.
  if not text then redis.call('GET', key) return nil, 0 end
  local window, count = string.match(text, '^(%d+):(%d+)$')
  if not window then error(redis.error_reply('CORRUPT counter ' .. key)) end
  return tonumber(window), tonumber(count)
end

-- Returns the current window of a surface, and what the account and the key have used in it.
-- A counter that is one window ahead was charged before the clock stepped back: its window is still the current one. A
-- counter of any other window has expired.
local function current_window(now, window_ms, account_key, account_text, key_key, key_text)
  local account_window, account_used = parse_counter(account_key, account_text)
  local key_window, key_used = parse_counter(key_key, key_text)
  local window = math.floor(now / window_ms)
  if account_window == window + 1 or key_window == window + 1 then window = window + 1 end
  return window, account_window == window and account_used or 0, key_window == window and key_used or 0
end

-- Returns why the key may not be used, or nil if it may.
local function key_refusal(key_marker, account_marker, account_version, secret_ends_at, now)
  if key_marker == 'revoked' then return 'revoked' end
  if account_marker then return 'suspended' end
  -- The key was rotated after the replica looked it up, so the replica must look it up again.
  if key_marker and tonumber(key_marker) > account_version then return 'outdated' end
  if secret_ends_at > 0 and now >= secret_ends_at then return 'replaced' end
  return nil
end
