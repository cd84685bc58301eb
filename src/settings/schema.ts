import Type, { type Static, type TOptional, type TProperties, type TUnsafe } from "typebox";
import { MESSAGE_LANGUAGES } from "../schema/languages.ts";
import { about, component, nullable, oneOf, optional, strict } from "../schema/fields.ts";
import { Email, freeText, TimeOrNull } from "../schema/values.ts";

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

const TimeOfDay = Type.String({
  pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
  "x-must-be": "a time of day from 00:00 to 23:59, for example 21:00",
});

/** What could be read as an address, in the forms that Unicode has of it, and what turns text around. */
const IN_ADDRESSES = '@\\uff20\\ufe6b<\\uff1c\\ufe64>\\uff1e\\ufe65"\\uff02';
const UNSEEN = "\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069";
/** What the sender's name may not have. */
export const NOT_IN_NAMES = new RegExp(`[${IN_ADDRESSES}${UNSEEN}]`, "gu");

const SenderName = Type.String({
  maxLength: 200,
  // Nothing has =?, which begins an encoded word (RFC 2047). Without a lookahead, which generators do not know.
  pattern: `^([^=${IN_ADDRESSES}${UNSEEN}]|=+[^=?${IN_ADDRESSES}${UNSEEN}])*=*$`,
  "x-must-be":
    'a name without @, <, >, ", =?, control characters and marks of text direction, for example Acme Onboarding',
});

const assistantFields = {
  enabled: about(Type.Boolean(), "Whether the assistant sends messages. Default: true.", true),
  display_name: about(
    nullable(SenderName),
    "The sender's name in messages, up to 200 characters, without @, <, >, \", control characters and marks of text direction. Messages show it as NAME via HOST.",
    "Acme Onboarding",
  ),
  reply_to: about(nullable(Email), "Where replies go.", "onboarding@example.com"),
  language: about(
    Type.String({ format: "language-tag", maxLength: 100 }),
    "The language of messages: a language tag (BCP 47). Messages have en, de, fr, es and nl, and are in en for any other: message_language says which. A candidate or reference may have its own. Default: en.",
    "pt-BR",
  ),
  channels: about(
    Type.Array(oneOf(["email", "sms"]), { minItems: 1, uniqueItems: true }),
    "The ways to send messages, at least one. Default: email.",
    ["email"],
  ),
  chase_interval_hours: about(
    Type.Integer({ minimum: 1, maximum: 720 }),
    "Hours between two reminders, 1 to 720. Default: 48.",
    48,
  ),
  instructions: about(
    nullable(freeText(2000)),
    "A note that every message repeats, to candidates and to referees, up to 2,000 characters.",
    "If you have questions, call us on +49 30 123456.",
  ),
  reference_questions: about(
    nullable(Type.Array(freeText(300, 1), { minItems: 1, maxItems: 20, uniqueItems: true })),
    "What referees are asked: 1 to 20 different questions of up to 300 characters. Null: five usual questions, in the language of the message.",
    ["How long did you work together?", "Would you hire this person again?"],
  ),
};
const Assistant = strict(assistantFields);
export type Assistant = Static<typeof Assistant>;

export const ASSISTANT_DEFAULTS: Assistant = {
  enabled: true,
  display_name: null,
  reply_to: null,
  language: "en",
  channels: ["email"],
  chase_interval_hours: 48,
  instructions: null,
  reference_questions: null,
};

const quietHoursFields = {
  enabled: about(Type.Boolean(), "Whether there are quiet hours. Default: false.", true),
  timezone: about(
    Type.String({ format: "time-zone", maxLength: 100 }),
    "The time zone of start and end: an IANA name. Default: UTC.",
    "Europe/Berlin",
  ),
  start: about(
    TimeOfDay,
    "When the quiet hours start: a local time from 00:00 to 23:59. If start is later than end, the quiet hours cross midnight. Default: 21:00.",
    "21:00",
  ),
  end: about(TimeOfDay, "When the quiet hours end: a local time from 00:00 to 23:59. Default: 08:00.", "08:00"),
  days: about(
    Type.Array(oneOf(WEEKDAYS), { minItems: 1, uniqueItems: true }),
    "The days on which quiet hours start, at least one. Default: every day.",
    ["mon", "tue", "wed", "thu", "fri"],
  ),
};
const QuietHours = strict(quietHoursFields);
export type QuietHours = Static<typeof QuietHours>;

export const QUIET_HOURS_DEFAULTS: QuietHours = {
  enabled: false,
  timezone: "UTC",
  start: "21:00",
  end: "08:00",
  days: [...WEEKDAYS],
};

/** Members that describe the stored record. Before the first change `version` is 0 and `updated_at` null. */
const recordFields = {
  version: about(Type.Integer({ minimum: 0 }), "Counts the changes of the settings. 0 before the first.", 2),
  updated_at: about(
    TimeOrNull,
    "When the settings were last changed. Null before the first change.",
    "2026-08-17T09:30:00.000Z",
  ),
};

const derived = {
  object: "it is the type of the object, and is read-only",
  version: "it counts the changes and is read-only; send the ETag in If-Match to guard a change",
  updated_at: "it is the time of the last change, and is read-only",
};

export const AssistantPatch = component(
  "AssistantPatch",
  "Changes of the assistant settings (JSON Merge Patch, RFC 7396): null restores a default.",
  orDefaults(assistantFields),
  { ...derived, message_language: "it follows from language" },
);
export type AssistantPatch = Static<typeof AssistantPatch>;

export const QuietHoursPatch = component(
  "QuietHoursPatch",
  "Changes of the quiet hours (JSON Merge Patch, RFC 7396): null restores a default.",
  orDefaults(quietHoursFields),
  { ...derived, effective: "it is computed from the other fields" },
);
export type QuietHoursPatch = Static<typeof QuietHoursPatch>;

export const AssistantSettings = component(
  "AssistantSettings",
  "How the assistant writes to candidates and referees.",
  {
    object: about(oneOf(["assistant_settings"]), "The type of the object.", "assistant_settings"),
    ...assistantFields,
    message_language: about(
      oneOf(MESSAGE_LANGUAGES),
      "The language in which messages are written: language, or en if messages do not have that.",
      "en",
    ),
    ...recordFields,
  },
);
export type AssistantSettings = Static<typeof AssistantSettings>;

const Effective = component("EffectiveQuietHours", "The quiet hours as they apply now.", {
  quiet_now: about(Type.Boolean(), "Whether it is quiet now.", false),
  next_start: about(TimeOrNull, "When the next quiet hours start. Null if there are none.", "2026-08-17T19:00:00.000Z"),
  next_end: about(
    TimeOrNull,
    "When the current or the next quiet hours end. Null if there are none.",
    "2026-08-18T06:00:00.000Z",
  ),
});
/** The quiet hours as they apply now. A time is null if it never comes. */
export type Effective = Static<typeof Effective>;

export const QuietHoursSettings = component("QuietHoursSettings", "The hours in which the assistant sends nothing.", {
  object: about(oneOf(["quiet_hours_settings"]), "The type of the object.", "quiet_hours_settings"),
  ...quietHoursFields,
  effective: about(Effective, "The quiet hours as they apply now."),
  ...recordFields,
});
export type QuietHoursSettings = Static<typeof QuietHoursSettings>;

const Days = nullable(Type.Integer({ minimum: 1, maximum: 3_650 }));
const daysFields = {
  completed: about(Days, "Days after a candidate became completed, 1 to 3,650. Null: never.", 365),
  withdrawn: about(Days, "Days after a candidate became withdrawn, 1 to 3,650. Null: never.", 90),
  inactive: about(
    Days,
    "In every other state: days after somebody last changed the candidate, or its state changed, 1 to 3,650. Null: never.",
    730,
  ),
};
const EraseAfterDays = component("EraseAfterDays", "After how many days candidates are erased.", daysFields);
export type EraseAfterDays = Static<typeof EraseAfterDays>;

const DaysPatch = component("EraseAfterDaysPatch", "Changes of the days: null means never.", orDefaults(daysFields));
export const RetentionPatch = component(
  "RetentionPatch",
  "Changes of the retention settings (JSON Merge Patch, RFC 7396): null restores a default.",
  { erase_after_days: optional(DaysPatch, "Changes of the days. Null: candidates are kept.") },
  derived,
);
export type RetentionPatch = Static<typeof RetentionPatch>;

export const RetentionSettings = component("RetentionSettings", "When candidates are erased without a request.", {
  object: about(oneOf(["retention_settings"]), "The type of the object.", "retention_settings"),
  erase_after_days: about(EraseAfterDays, "After how many days candidates are erased. Default: never."),
  ...recordFields,
});
export type RetentionSettings = Static<typeof RetentionSettings>;

/** The fields of a patch (JSON Merge Patch, RFC 7396): null restores the default, an absent field stays as it is. */
function orDefaults<P extends TProperties>(fields: P) {
  const changed = Object.entries(fields).map(([name, field]) => [name, Type.Optional(nullable(field))]);
  return Object.fromEntries(changed) as { [Name in keyof P]: TOptional<TUnsafe<Static<P[Name]> | null>> };
}
