import Type, { type Static, type TSchema } from "typebox";
import { Email, freeText, nullable, oneOf, strict, Timestamp } from "../schema/fields.ts";

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

const Channel = oneOf(["email", "sms"]);
const TimeOfDay = Type.String({
  pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
  description: "a time of day from 00:00 to 23:59, for example 21:00",
});

const assistantFields = {
  enabled: Type.Boolean(),
  display_name: nullable(freeText(200)),
  reply_to: nullable(Email),
  language: Type.String({ format: "language-tag", maxLength: 100 }),
  channels: Type.Array(Channel, { minItems: 1, uniqueItems: true }),
  chase_interval_hours: Type.Integer({ minimum: 1, maximum: 720 }),
  instructions: nullable(freeText(2000)),
};
const Assistant = strict(assistantFields);
/** The assistant settings that an account can change. */
export type Assistant = Static<typeof Assistant>;

export const ASSISTANT_DEFAULTS: Assistant = {
  enabled: true,
  display_name: null,
  reply_to: null,
  language: "en",
  channels: ["email"],
  chase_interval_hours: 48,
  instructions: null,
};

const quietHoursFields = {
  enabled: Type.Boolean(),
  timezone: Type.String({ format: "time-zone", maxLength: 100 }),
  start: TimeOfDay,
  end: TimeOfDay,
  days: Type.Array(oneOf(WEEKDAYS), { minItems: 1, uniqueItems: true }),
};
const QuietHours = strict(quietHoursFields);
/** The quiet hours settings that an account can change. */
export type QuietHours = Static<typeof QuietHours>;

export const QUIET_HOURS_DEFAULTS: QuietHours = {
  enabled: false,
  timezone: "UTC",
  start: "21:00",
  end: "08:00",
  days: [...WEEKDAYS],
};

/** Members that describe the stored record. Before the first change `version` is 0 and `updated_at` null. */
const recordFields = { version: Type.Integer({ minimum: 0 }), updated_at: nullable(Timestamp) };

const derived = {
  object: "it is the type of the object, and is read-only",
  version: "it counts the changes and is read-only; send the ETag in If-Match to guard a change",
  updated_at: "it is the time of the last change, and is read-only",
};

/** JSON Merge Patch (RFC 7396): null restores the default, an absent field stays as it is. */
export const AssistantPatch = strict(
  {
    enabled: orDefault(assistantFields.enabled),
    display_name: Type.Optional(assistantFields.display_name),
    reply_to: Type.Optional(assistantFields.reply_to),
    language: orDefault(assistantFields.language),
    channels: orDefault(assistantFields.channels),
    chase_interval_hours: orDefault(assistantFields.chase_interval_hours),
    instructions: Type.Optional(assistantFields.instructions),
  },
  derived,
);
export type AssistantPatch = Static<typeof AssistantPatch>;

/** JSON Merge Patch (RFC 7396): null restores the default, an absent field stays as it is. */
export const QuietHoursPatch = strict(
  {
    enabled: orDefault(quietHoursFields.enabled),
    timezone: orDefault(quietHoursFields.timezone),
    start: orDefault(quietHoursFields.start),
    end: orDefault(quietHoursFields.end),
    days: orDefault(quietHoursFields.days),
  },
  { ...derived, effective: "it is computed from the other fields" },
);
export type QuietHoursPatch = Static<typeof QuietHoursPatch>;

export const AssistantSettings = strict({ object: oneOf(["assistant_settings"]), ...assistantFields, ...recordFields });
export type AssistantSettings = Static<typeof AssistantSettings>;

const Effective = strict({
  quiet_now: Type.Boolean(),
  next_start: nullable(Timestamp),
  next_end: nullable(Timestamp),
});
/** The quiet hours applied to the present moment. A time is null if it never comes. */
export type Effective = Static<typeof Effective>;

export const QuietHoursSettings = strict({
  object: oneOf(["quiet_hours_settings"]),
  ...quietHoursFields,
  effective: Effective,
  ...recordFields,
});
export type QuietHoursSettings = Static<typeof QuietHoursSettings>;

/** A field of a patch: null restores the default. */
function orDefault<S extends TSchema>(field: S) {
  return Type.Optional(nullable(field));
}
