-- Lines that charge.lua and usage.lua have in common. src/infra/scripts.ts inserts them at "-- include shared.lua".
-- They use: stored (version, window and counts of the ledger), seconds and now (Redis's clock, in s and in ms),
-- window_seconds, account_version and secret_ends_at (arguments).
-- They set: version, window, window_text, is_current (whether the ledger counts that window), and refusal.

-- A ledger that is one window ahead was charged before the clock stepped back: its window is still the current one. A
-- ledger of any other window has ended.
local version, window_text = stored[1], stored[2]
window_seconds = window_seconds + 0
local window = (seconds - seconds % window_seconds) / window_seconds
local ledger_window = (window_text or -1) + 0
if ledger_window == window + 1 then window = ledger_window end
local is_current = ledger_window == window
if not is_current then window_text = string.format('%d', window) end

-- Why the key may not be used, or nil if it may. Redis may know no version of the account, because it lost its data, or a
-- newer one than the replica: then the replica must look the key up again.
local refusal
if version ~= account_version and account_version ~= '' and (not version or version - account_version > 0) then
  refusal = 'outdated'
elseif (secret_ends_at or '0') ~= '0' and now >= secret_ends_at + 0 then
  refusal = 'replaced'
end
