import Type, { type Static, type TObject, type TProperties, type TSchema } from "typebox";

/** The same schema, taking `null` as well: absent and null mean the same on the way in, null is written on the way out. */
export function nullable<S extends TSchema>(schema: S) {
  const { title: _, ...rest } = schema as S & { title?: string };
  return Type.Unsafe<Static<S> | null>({ ...rest, type: ["type" in schema ? schema.type : [], "null"].flat() });
}

/**
 * An object that takes its own members only.
 * @param elsewhere names a client might expect here, with a sentence saying where they are changed instead.
 */
export function strict<P extends TProperties>(properties: P, elsewhere: Record<string, string> = {}): TObject<P> {
  const hints = Object.keys(elsewhere).length > 0 ? { "x-elsewhere": elsewhere } : {};
  return Type.Object(properties, { additionalProperties: false, ...hints });
}

/** The schema under a name of its own in the OpenAPI document. */
export function titled<S extends TSchema>(title: string, schema: S): S {
  return Object.assign(schema, { title });
}

/** One of several strings, as one schema: a union of literals would give one error a literal. */
export function oneOf<const T extends string>(values: readonly T[]) {
  return Type.Unsafe<T>({ type: "string", enum: [...values] });
}

/** Free text of up to `max` characters (code points). */
export function freeText(max: number, min = 0) {
  return Type.String({ minLength: min, maxLength: max });
}

export const Email = Type.String({ format: "email", maxLength: 254 });
export const Phone = Type.String({
  pattern: "^\\+[1-9][0-9]{1,14}$",
  description: "an E.164 phone number, for example +14155550123",
});
export const CalendarDate = Type.String({ format: "date" });
export const Timestamp = Type.String({ format: "date-time" });

/** The client's own labels: up to 50 strings of up to 500 characters, under names of 1-100 characters. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: "object" as const,
  maxProperties: 50,
  // An own member of this name is legal JSON but sets an object's prototype wherever it is copied carelessly.
  propertyNames: { type: "string", minLength: 1, maxLength: 100, not: { const: "__proto__" } },
  additionalProperties: { type: "string", maxLength: 500 },
});

/** Metadata in a merge patch: a member that is null is taken away. */
export const MetadataPatch = Type.Unsafe<Record<string, string | null>>({
  ...Metadata,
  additionalProperties: { type: ["string", "null"], maxLength: 500 },
});
