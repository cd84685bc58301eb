import Type from "typebox";
import { MAX_EMAIL } from "./email.ts";
import { nullable, optional, titled } from "./fields.ts";

/** Free text of up to `max` characters (code points). */
export function freeText(max: number, min = 0) {
  return Type.String({ minLength: min, maxLength: max });
}

export const Email = Type.String({ format: "idn-email", maxLength: MAX_EMAIL });
export const CalendarDate = Type.String({ format: "date" });
export const Timestamp = Type.String({ format: "date-time" });
export const TimeOrNull = nullable(Timestamp);
export const Count = Type.Integer({ minimum: 0 });

/** A phone number that a client sends. @param what "The phone number" */
export function phone(what: string) {
  const text = `${what} with its country code, in any usual form. It is kept as E.164.`;
  return optional(Type.String({ format: "phone" }), text, "+1 (415) 555-0123");
}

const metadata = {
  type: "object" as const,
  maxProperties: 50,
  // JSON allows a member of this name, but code that copies it carelessly sets the object's prototype.
  propertyNames: { type: "string", minLength: 1, maxLength: 100, not: { const: "__proto__" } },
  examples: [{ source: "referral" }],
};
const label = { type: "string", maxLength: 500 };

/** The client's own labels: up to 50 strings of up to 500 characters, with names of 1 to 100 characters. */
export const Metadata = titled(
  "Metadata",
  "The client's own labels. The service stores them and does nothing else with them.",
  Type.Unsafe<Record<string, string>>({ ...metadata, additionalProperties: label }),
);

/** Metadata as a client sends it. Numbers and booleans become their JSON text, and null is the same as absent. */
export const MetadataInput = titled(
  "MetadataInput",
  "The client's own labels: up to 50 strings of up to 500 characters, with names of 1 to 100 characters. A number or a boolean is kept as its text. Null is the same as leaving the label out.",
  Type.Unsafe<Record<string, string>>({ ...metadata, additionalProperties: { ...label, "x-scalar": true } }),
);

/** Metadata in a merge patch. A null member removes that member. */
export const MetadataPatch = titled(
  "MetadataPatch",
  "Changes of metadata: a string sets a label, null removes it, and a label that is left out stays as it is.",
  Type.Unsafe<Record<string, string | null>>({
    ...metadata,
    additionalProperties: { type: ["string", "null"], maxLength: 500, "x-scalar": true },
    examples: [{ source: "referral", campaign: null }],
  }),
);
