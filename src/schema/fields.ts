import Type, { type Static, type TObject, type TProperties, type TSchema } from "typebox";
import { MAX_EMAIL } from "./email.ts";

/**
 * The same schema, with `null` allowed too. In a new object null means the same as an absent field. In a merge patch
 * null clears the field or restores its default. Answers write null for a field without a value.
 */
export function nullable<S extends TSchema>(schema: S) {
  const { title: _, ...rest } = schema as S & { title?: string };
  return Type.Unsafe<Static<S> | null>({ ...rest, type: ["type" in schema ? schema.type : [], "null"].flat() });
}

/**
 * An object that allows no unknown members.
 * @param elsewhere members that a client might expect here. Each has a hint that says where to set it instead, or why
 * it cannot be set. The hint ends the detail of the fault.
 */
export function strict<P extends TProperties>(properties: P, elsewhere: Record<string, string> = {}): TObject<P> {
  const hints = Object.keys(elsewhere).length > 0 ? { "x-elsewhere": elsewhere } : {};
  return Type.Object(properties, { additionalProperties: false, ...hints });
}

/** Returns hints for `strict`: members of an answer that a client may send back, and that only the service sets. */
export function readOnly(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, "it is read-only; leave it out"]));
}

/** Gives the schema a title. The OpenAPI document lists it as a component under that name. */
export function titled<S extends TSchema>(title: string, schema: S): S {
  return Object.assign(schema, { title });
}

/** One of several strings, as a single schema. A union of literals would report one error per literal. */
export function oneOf<const T extends string>(values: readonly T[]) {
  return Type.Unsafe<T>({ type: "string", enum: [...values] });
}

/** Free text of up to `max` characters (code points). */
export function freeText(max: number, min = 0) {
  return Type.String({ minLength: min, maxLength: max });
}

export const Email = Type.String({ format: "idn-email", maxLength: MAX_EMAIL });
export const Phone = Type.String({
  format: "phone",
  description:
    "a phone number with its country code, in any usual form, for example +1 (415) 555-0123; kept as E.164: +14155550123",
});
export const CalendarDate = Type.String({ format: "date" });
export const Timestamp = Type.String({ format: "date-time" });

const metadata = {
  type: "object" as const,
  maxProperties: 50,
  // JSON allows a member of this name, but code that copies it carelessly sets the object's prototype.
  propertyNames: { type: "string", minLength: 1, maxLength: 100, not: { const: "__proto__" } },
};

/** The client's own labels: up to 50 strings of up to 500 characters, with names of 1 to 100 characters. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  ...metadata,
  additionalProperties: { type: "string", maxLength: 500 },
});

/** Metadata as a client sends it. Numbers and booleans become their JSON text, and null is the same as absent. */
export const NewMetadata = Type.Unsafe<Record<string, string>>({
  ...metadata,
  additionalProperties: { type: "string", maxLength: 500, "x-scalar": true },
});

/** Metadata in a merge patch. A null member removes that member. */
export const MetadataPatch = Type.Unsafe<Record<string, string | null>>({
  ...metadata,
  additionalProperties: { type: ["string", "null"], maxLength: 500, "x-scalar": true },
});
