import type { Clock } from "../infra/clock.ts";
import { mergePatch } from "../schema/merge-patch.ts";
import type { Precondition } from "../problems.ts";
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
  /** Undefined if no reminders are sent. */
  observer?: SettingsObserver | undefined;
}

/** Is told before and after settings are changed that decide when reminders go out, and what they say. */
export interface SettingsObserver {
  /** @throws problem store_unavailable. Then the settings are not changed. */
  changing(accountId: string): Promise<void>;
  changed(accountId: string): void;
}

export class SettingsService {
  readonly #options: SettingsServiceOptions;

  constructor(options: SettingsServiceOptions) {
    this.#options = options;
  }

  async readAssistant(accountId: string): Promise<AssistantSettings> {
    return renderAssistant(await this.#options.assistant.get(accountId));
  }

  /** One round trip more if reminders are sent. @throws problem version_mismatch */
  async changeAssistant(
    accountId: string,
    patch: AssistantPatch,
    precondition: Precondition,
  ): Promise<AssistantSettings> {
    const change = () =>
      this.#options.assistant.change(accountId, (before) => {
        precondition([taggedAssistant(before)]);
        return merged(before.values, patch.language ? { ...patch, language: languageNamed(patch.language) } : patch);
      });
    return renderAssistant(await this.#observed(accountId, change));
  }

  /** `effective` is computed when the settings are read. */
  async readQuietHours(accountId: string): Promise<QuietHoursSettings> {
    return this.#withEffective(await this.#options.quietHours.get(accountId));
  }

  /** One round trip more if reminders are sent. @throws problem version_mismatch */
  async changeQuietHours(
    accountId: string,
    patch: QuietHoursPatch,
    precondition: Precondition,
  ): Promise<QuietHoursSettings> {
    const change = () =>
      this.#options.quietHours.change(accountId, (before) => {
        precondition([renderQuietHours(before)]);
        return merged(before.values, patch.timezone ? { ...patch, timezone: timeZoneNamed(patch.timezone) } : patch);
      });
    return this.#withEffective(await this.#observed(accountId, change));
  }

  async #observed<Result>(accountId: string, change: () => Promise<Result>): Promise<Result> {
    await this.#options.observer?.changing(accountId);
    const result = await change();
    this.#options.observer?.changed(accountId);
    return result;
  }

  #withEffective(record: SettingsRecord<QuietHours>): QuietHoursSettings {
    const settings = renderQuietHours(record);
    return { ...settings, effective: effectiveAt(settings, this.#options.clock.now()) };
  }
}

/** The last member of the assistant settings, which their ETag does not cover: 0.1.0 does not know it. */
export const UNTAGGED = "reference_questions";

function renderAssistant(record: SettingsRecord<Assistant>): AssistantSettings {
  const { reference_questions = ASSISTANT_DEFAULTS.reference_questions } = record.values;
  return { ...taggedAssistant(record), reference_questions };
}

/** The view that If-Match compares. */
function taggedAssistant({
  values,
  version,
  updated_at,
}: SettingsRecord<Assistant>): Omit<AssistantSettings, typeof UNTAGGED> {
  const { reference_questions: _, ...tagged } = { ...ASSISTANT_DEFAULTS, ...values };
  return { object: "assistant_settings", ...tagged, version, updated_at };
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
