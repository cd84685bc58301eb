import type { Clock } from "../infra/clock.ts";
import type { Precondition } from "../problems.ts";
import { messageLanguage } from "../schema/languages.ts";
import { mergePatch } from "../schema/merge-patch.ts";
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

export type SettingsService = ReturnType<typeof settingsService>;

interface Dependencies {
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

export function settingsService({ assistant, quietHours, clock, observer }: Dependencies) {
  const readAssistant = async (accountId: string) => renderAssistant(await assistant.get(accountId));

  /** @throws problem version_mismatch */
  async function changeAssistant(accountId: string, patch: AssistantPatch, precondition: Precondition) {
    const named = patch.language ? { ...patch, language: languageNamed(patch.language) } : patch;
    const check = (before: SettingsRecord<Assistant>) => precondition(() => [taggedView(renderAssistant(before))]);
    return renderAssistant(await change(assistant, accountId, named, check));
  }

  const readQuietHours = async (accountId: string) => withEffective(await quietHours.get(accountId));

  /** @throws problem version_mismatch */
  async function changeQuietHours(accountId: string, patch: QuietHoursPatch, precondition: Precondition) {
    const named = patch.timezone ? { ...patch, timezone: timeZoneNamed(patch.timezone) } : patch;
    const check = (before: SettingsRecord<QuietHours>) => precondition(() => [renderQuietHours(before)]);
    return withEffective(await change(quietHours, accountId, named, check));
  }

  async function change<Values>(
    store: SettingsStore<Values>,
    accountId: string,
    patch: object,
    check: (before: SettingsRecord<Values>) => void,
  ): Promise<SettingsRecord<Values>> {
    await observer?.changing(accountId);
    const after = await store.change(accountId, (before) => {
      check(before);
      // A null removes a value, which restores the default.
      return mergePatch(before.values, patch) as Partial<Values>;
    });
    observer?.changed(accountId);
    return after;
  }

  function withEffective(record: SettingsRecord<QuietHours>): QuietHoursSettings {
    const settings = renderQuietHours(record);
    return { ...settings, effective: effectiveAt(settings, clock.now()) };
  }

  return { readAssistant, changeAssistant, readQuietHours, changeQuietHours };
}

/** Returns what the ETag of the assistant settings covers: what 0.1.0 knows, so that replicas of both versions agree. */
export function taggedView({ reference_questions: _q, message_language: _m, ...tagged }: AssistantSettings) {
  return tagged;
}

function renderAssistant({ values, version, updated_at }: SettingsRecord<Assistant>): AssistantSettings {
  const { reference_questions, ...rest } = { ...ASSISTANT_DEFAULTS, ...values };
  const message_language = messageLanguage(rest.language);
  return { object: "assistant_settings", ...rest, version, updated_at, reference_questions, message_language };
}

/** The view that If-Match compares. It leaves out `effective`, which changes by the clock alone. */
function renderQuietHours(record: SettingsRecord<QuietHours>): Omit<QuietHoursSettings, "effective"> {
  const { values, version, updated_at } = record;
  return { object: "quiet_hours_settings", ...QUIET_HOURS_DEFAULTS, ...values, version, updated_at };
}
