import Type, { type Static, type TObject, type TProperties, type TSchema } from "typebox";

/**
 * The same schema, with `null` allowed too. In a new object null means the same as an absent field. In a merge patch
 * null clears the field or restores its default. Responses have null for a field without a value.
 */
export function nullable<S extends TSchema>(schema: S) {
  const allowed = "enum" in schema ? { enum: [schema.enum, null].flat() } : {};
  const type = [...new Set(["type" in schema ? schema.type : [], "null"].flat())];
  return Type.Unsafe<Static<S> | null>({ ...schema, ...allowed, type });
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

/** Returns hints for `strict`: members of a response that a client may send back, and that only the service sets. */
export function readOnly(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, "it is read-only; leave it out"]));
}

/**
 * Gives the schema a name and says what it is. The OpenAPI document lists it as a component under that name. Generated
 * clients make a type of it, so no name starts with New: Go's constructor of Candidate is NewCandidate.
 */
export function titled<S extends TSchema>(title: string, description: string, schema: S): S {
  return { ...schema, title, description };
}

/** An object with a name, as `titled` and `strict` make it. */
export function component<P extends TProperties>(
  title: string,
  description: string,
  properties: P,
  elsewhere?: Record<string, string>,
): TObject<P> {
  return titled(title, description, strict(properties, elsewhere));
}

/** Says what a field means, with its unit, for the OpenAPI document. A schema with a name has its own examples. */
export function about<S extends TSchema>(schema: S, description: string, ...examples: readonly unknown[]): S {
  if ("title" in schema) return { ...schema, "x-about": description };
  return { ...schema, description, ...(examples.length > 0 ? { examples } : {}) };
}

/** Returns the properties that an object's schema declares, or none without a schema. */
export function propertiesOf(schema: TSchema | undefined): Record<string, Record<string, unknown>> {
  const { properties } = (schema ?? {}) as { properties?: Record<string, Record<string, unknown>> };
  return properties ?? {};
}

/** A member that may be left out, and is not null. @param text as `about`: what it means, and examples. */
export function omittable<S extends TSchema>(schema: S, ...text: readonly [string, ...unknown[]]) {
  return Type.Optional(about(schema, ...text));
}

/** A member that may be left out, or null. */
export function optional<S extends TSchema>(schema: S, ...text: readonly [string, ...unknown[]]) {
  return omittable(nullable(schema), ...text);
}

/** One of several strings, as a single schema. A union of literals would report one error per literal. */
export function oneOf<const T extends string>(values: readonly T[]) {
  return Type.Unsafe<T>({ type: "string", enum: [...values] });
}
