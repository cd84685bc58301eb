import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { AccountStore } from "../accounts/store.ts";
import { type Clock, HOUR_MS, timestamp } from "../infra/clock.ts";
import type { Restored } from "../infra/restore.ts";
import { timeZoneNamed } from "../schema/registered-names.ts";
import { shownName } from "../schema/visible-text.ts";
import type { Assistant, QuietHours } from "../settings/schema.ts";
import { ASSISTANT_DEFAULTS, NOT_IN_NAMES, QUIET_HOURS_DEFAULTS } from "../settings/schema.ts";
import type { SettingsStore } from "../settings/store.ts";
import type { ReminderAccountStore } from "./account-store.ts";
import type { MailLimits } from "./mail-budget.ts";
import type { ReminderRules } from "./plan.ts";

/** Maximum time for which a process uses rules that another one has changed, in milliseconds. At most half of SETTLED_MS. */
export const RULES_KEPT_MS = 30_000;
/** Time for which settings are reused while no change of them is noted, in milliseconds. */
const SETTINGS_KEPT_MS = 10_000;
/** Number of accounts in memory, about 1 kB each. */
const MAX_KNOWN = 5_000;

/** What the sender needs to know of an account. */
export interface AccountRules {
  readonly rules: ReminderRules;
  readonly assistant: Assistant;
  /** Who asks, as recipients see it (senderOf). */
  readonly sender: string;
  readonly limits: MailLimits;
  /** True if an operator has suspended the account. */
  readonly suspended: boolean;
}

interface Dependencies {
  readonly assistant: Pick<SettingsStore<Assistant>, "get">;
  readonly quietHours: Pick<SettingsStore<QuietHours>, "get">;
  readonly reminderAccounts: ReminderAccountStore;
  readonly accounts: Pick<AccountStore, "get">;
  /** What every account may send, unless an operator has raised it. */
  readonly limits: MailLimits;
  readonly clock: Clock;
  /** The last restore, if reminders that were due before its end do not go out. */
  readonly restore: { restored(): Restored | undefined };
  /** Absent if the rules are only shown. */
  readonly log?: Pick<Logger, "warn">;
}

type Settings = Readonly<{ assistant: Assistant; hours: QuietHours }>;

export type RulesReader = ReturnType<typeof rulesReader>;

/**
 * Reads the rules that follow from accounts' settings, and what operators decide about accounts. Every method may throw
 * problem store_unavailable.
 */
export function rulesReader(dependencies: Dependencies) {
  const { reminderAccounts, accounts, limits, clock, restore, log } = dependencies;
  const knownRules = new LRUCache<string, ReminderRules>({ max: MAX_KNOWN, ttl: RULES_KEPT_MS });
  const knownSettings = new LRUCache<string, Settings>({ max: MAX_KNOWN, ttl: SETTINGS_KEPT_MS });
  /** The unknown time zones that were logged, by account. */
  const logged = new LRUCache<string, string>({ max: MAX_KNOWN });

  /** Returns rules that are up to RULES_KEPT_MS old. No round trip if this process knows them. */
  async function of(accountId: string): Promise<ReminderRules> {
    return knownRules.get(accountId) ?? (await fresh(accountId)).rules;
  }

  /** Reads the account's rules. From then on, `of` returns them. Four reads at once: one round trip. */
  function fresh(accountId: string): Promise<AccountRules> {
    knownSettings.delete(accountId);
    return current(accountId);
  }

  /**
   * Returns the same as `fresh`. Reuses settings of the last SETTINGS_KEPT_MS, so that it takes two reads at once, unless a
   * change of them is noted. A change is noted before it is made (ReminderAccountStore.noteChange), and stays noted for longer.
   */
  async function current(accountId: string): Promise<AccountRules> {
    const kept = knownSettings.get(accountId);
    const [{ pausedAt, raise, isChanged }, { name, status }, read] = await Promise.all([
      reminderAccounts.get(accountId),
      accounts.get(accountId, { evenErased: true }),
      kept ?? readSettings(accountId),
    ]);
    const { assistant, hours } = isChanged && kept !== undefined ? await readSettings(accountId) : read;
    if (hasUnknownZone(hours)) await noteUnknownZone(accountId, hours.timezone);
    const suspended = status !== "active";
    const isRaised = raise !== null && Date.parse(raise.expires_at) > clock.now();
    const own = isRaised ? { ...limits, perAccount: raise.per_day, newAddresses: raise.new_per_day } : limits;
    const paused = suspended || pausedAt !== null;
    const rules = rulesOf(assistant, hours, { paused, limits: own }, restore.restored());
    knownRules.set(accountId, rules);
    return { rules, assistant, sender: senderOf(assistant, name), limits: own, suspended };
  }

  async function readSettings(accountId: string) {
    const { assistant, quietHours } = dependencies;
    const [{ values }, quiet] = await Promise.all([assistant.get(accountId), quietHours.get(accountId)]);
    const hours = { ...QUIET_HOURS_DEFAULTS, ...quiet.values };
    const settings = { assistant: { ...ASSISTANT_DEFAULTS, ...values }, hours };
    knownSettings.set(accountId, settings);
    return settings;
  }

  /** Logs the time zone once, and has a replica that knows it replan. */
  async function noteUnknownZone(accountId: string, timezone: string): Promise<void> {
    if (log === undefined) return;
    if (logged.get(accountId) !== timezone)
      log.warn(
        { account: accountId, timezone },
        "this runtime does not know the time zone of the account's quiet hours: no reminder is sent. Update Node.js",
      );
    logged.set(accountId, timezone);
    await reminderAccounts.noteChange(accountId, timestamp(clock.now()));
  }

  /** Makes the next `of` read the account's rules. */
  function forget(accountId: string): void {
    knownRules.delete(accountId);
    knownSettings.delete(accountId);
  }

  return { of, fresh, current, forget };
}

/**
 * Returns the name of who asks: the assistant's display_name, else the account's. Both may be older than the rule that
 * forbids what could be read as another sender's address.
 */
export function senderOf({ display_name }: Pick<Assistant, "display_name">, accountName: string): string {
  const names = [display_name ?? "", accountName].map((name) => shownName(name.replaceAll(NOT_IN_NAMES, " ")));
  return names.find((name) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(name)) ?? "";
}

/** A replica with a newer tz database may have stored a time zone that this runtime does not know. */
function hasUnknownZone({ enabled, timezone }: QuietHours): boolean {
  return enabled && timeZoneNamed(timezone) === undefined;
}

/**
 * Returns the rules that follow from an account's settings. Equal settings have equal versions, but not on a runtime that does
 * not know their time zone.
 */
export function rulesOf(
  assistant: Assistant,
  quietHours: QuietHours,
  { paused, limits }: { paused: boolean; limits: Pick<MailLimits, "perAccount" | "newAddresses"> },
  restored?: Restored,
): ReminderRules {
  const { enabled, channels, chase_interval_hours } = assistant;
  const rules = {
    enabled: enabled && channels.includes("email") && !paused,
    intervalMs: chase_interval_hours * HOUR_MS,
    quietHours: quietHours.enabled ? quietHours : QUIET_HOURS_DEFAULTS,
    budget: `${limits.perAccount}/${limits.newAddresses}`,
    ...(restored && { restored }),
    ...(hasUnknownZone(quietHours) ? { isUnknownZone: true } : {}),
  };
  return { ...rules, version: createHash("sha256").update(JSON.stringify(rules)).digest("base64url").slice(0, 16) };
}
