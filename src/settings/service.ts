import type { Clock } from "../infra/clock.ts";
import { mergePatch } from "../schema/merge-patch.ts";
import type { Precondition } from "../precondition.ts";
import { languageNamed, timeZoneNamed } from "../schema/registered-names.ts";
import { effectiveAt } from "./quiet-hours.ts";
import {
  type Assistant,
  ASSISTANT_DEFAULTS,
  type AssistantPatch,
  type AssistantSettings,
  QUIET_HOURS_DEFAULTS,
  type QuietHours,
  type QuietHoursPatch,
  type QuietHoursSettings,
} from "./schema.ts";
import type { SettingsRecord, SettingsStore } from "./store.ts";

export interface SettingsServiceOptions {
  assistant: SettingsStore<Assistant>;
  quietHours: SettingsStore<QuietHours>;
  clock: Clock;
}

/** Reads an account's settings, and changes them by merge patch. */
export class SettingsService {
  readonly #assistant: SettingsStore<Assistant>;
  readonly #quietHours: SettingsStore<QuietHours>;
  readonly #clock: Clock;

  constructor({ assistant, quietHours, clock }: SettingsServiceOptions) {
    this.#assistant = assistant;
    this.#quietHours = quietHours;
    this.#clock = clock;
  }

  async readAssistant(accountId: string): Promise<AssistantSettings> {
    return renderAssistant(await this.#assistant.get(accountId));
  }

  /** @throws problem version_mismatch */
  async changeAssistant(
    accountId: string,
    patch: AssistantPatch,
    precondition: Precondition,
  ): Promise<AssistantSettings> {
    const record = await this.#assistant.change(accountId, (before) => {
      precondition([renderAssistant(before)]);
      return merged(before.values, patch.language ? { ...patch, language: languageNamed(patch.language) } : patch);
    });
    return renderAssistant(record);
  }

  /** `effective` is computed when the settings are read. */
  async readQuietHours(accountId: string): Promise<QuietHoursSettings> {
    return this.#withEffective(await this.#quietHours.get(accountId));
  }

  /** @throws problem version_mismatch */
  async changeQuietHours(
    accountId: string,
    patch: QuietHoursPatch,
    precondition: Precondition,
  ): Promise<QuietHoursSettings> {
    const record = await this.#quietHours.change(accountId, (before) => {
      precondition([renderQuietHours(before)]);
      return merged(before.values, patch.timezone ? { ...patch, timezone: timeZoneNamed(patch.timezone) } : patch);
    });
    return this.#withEffective(record);
  }

  #withEffective(record: SettingsRecord<QuietHours>): QuietHoursSettings {
    const settings = renderQuietHours(record);
    return { ...settings, effective: effectiveAt(settings, this.#clock.now()) };
  }
}

function renderAssistant({ values, version, updated_at }: SettingsRecord<Assistant>): AssistantSettings {
  return { object: "assistant_settings", ...ASSISTANT_DEFAULTS, ...values, version, updated_at };
}

/** The view that If-Match compares. It leaves out `effective`, which changes by the clock alone. */
function renderQuietHours({
  values,
  version,
  updated_at,
}: SettingsRecord<QuietHours>): Omit<QuietHoursSettings, "effective"> {
  return { object: "quiet_hours_settings", ...QUIET_HOURS_DEFAULTS, ...values, version, updated_at };
}

/** Merges the patch into the values that the account has set. A null removes a value, which restores the default. */
function merged<Values>(values: Partial<Values>, patch: object): Partial<Values> {
  return mergePatch(values, patch) as Partial<Values>;
}
