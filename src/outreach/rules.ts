import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ChaseRules } from "../candidates/chase.ts";
import { type Assistant, ASSISTANT_DEFAULTS, QUIET_HOURS_DEFAULTS, type QuietHours } from "../settings/schema.ts";
import type { SettingsStore } from "../settings/store.ts";
import type { AccountStore } from "../accounts/store.ts";
import type { OutreachAccountStore } from "./account-store.ts";

const HOUR_MS = 3_600_000;

/** How long a process may use rules that were changed by another one, in milliseconds. */
export const RULES_KEPT_MS = 30_000;

/** Accounts in memory, about 1 kB each. */
const MAX_KNOWN = 5_000;

/** What the sender needs to know of an account. */
export interface AccountRules {
  readonly rules: ChaseRules;
  readonly assistant: Assistant;
  /** The account's name. */
  readonly name: string;
}

interface Dependencies {
  readonly assistant: Pick<SettingsStore<Assistant>, "get">;
  readonly quietHours: Pick<SettingsStore<QuietHours>, "get">;
  readonly pauses: Pick<OutreachAccountStore, "pausedAt">;
  readonly accounts: Pick<AccountStore, "get">;
}

/** Reads what accounts' settings say about the chase. Every method may throw problem store_unavailable. */
export class RulesReader {
  readonly #dependencies: Dependencies;
  readonly #known = new LRUCache<string, ChaseRules>({ max: MAX_KNOWN, ttl: RULES_KEPT_MS });

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns rules that are up to RULES_KEPT_MS old. No round trip if this process knows them. */
  async of(accountId: string): Promise<ChaseRules> {
    return this.#known.get(accountId) ?? (await this.fresh(accountId)).rules;
  }

  /** Reads the account's rules. From then on, `of` returns them. Four reads at once: one round trip. */
  async fresh(accountId: string): Promise<AccountRules> {
    const { assistant, quietHours, pauses, accounts } = this.#dependencies;
    const [{ values }, quiet, pausedAt, { name, status }] = await Promise.all([
      assistant.get(accountId),
      quietHours.get(accountId),
      pauses.pausedAt(accountId),
      accounts.get(accountId),
    ]);
    const merged: Assistant = { ...ASSISTANT_DEFAULTS, ...values };
    const rules = rulesOf(
      merged,
      { ...QUIET_HOURS_DEFAULTS, ...quiet.values },
      pausedAt !== null || status !== "active",
    );
    this.#known.set(accountId, rules);
    return { rules, assistant: merged, name };
  }

  /** Makes the next `of` read the account's rules. */
  forget(accountId: string): void {
    this.#known.delete(accountId);
  }
}

/** Returns the rules that follow from an account's settings. Equal settings have equal versions. */
export function rulesOf(assistant: Assistant, quietHours: QuietHours, paused: boolean): ChaseRules {
  const { enabled, channels, chase_interval_hours } = assistant;
  const rules = {
    enabled: enabled && channels.includes("email") && !paused,
    intervalMs: chase_interval_hours * HOUR_MS,
    quietHours: quietHours.enabled ? quietHours : QUIET_HOURS_DEFAULTS,
  };
  return { ...rules, version: createHash("sha256").update(JSON.stringify(rules)).digest("base64url").slice(0, 16) };
}
