import type { TSchema } from "typebox";
import { isObject } from "../schema/merge-patch.ts";
import { words } from "../schema/words.ts";

export type Json = Record<string, unknown>;

/** The side that a schema describes: what a client sends, or what it gets. */
type Use = "request" | "response";

/** Formats that tools know. The others are the service's own: the description says in words what they allow. */
const FORMATS = new Set(["date", "date-time", "idn-email", "binary"]);
/** Their values may be objects that are data, not schemas. */
const DATA = new Set(["default", "examples"]);
/** Generated clients check these. In a response they would refuse a value that a later version of the service allows. */
const FOR_REQUESTS_ONLY = new Set<string>(
  words("maximum maxItems maxLength maxProperties minItems minLength pattern uniqueItems"),
);

/**
 * Returns a schema that the service validates with as the OpenAPI document shows it. Every part with a title moves to
 * `components`, and a reference stays in its place.
 * @throws if two different schemas have the same title.
 */
export function publish(schema: TSchema, use: Use, components: Record<string, Json>): Json {
  const publishPart = (part: unknown): unknown =>
    Array.isArray(part) ? part.map(publishPart) : isObject(part) ? publish(part, use, components) : part;
  const { title, "x-about": about, ...keywords } = schema as Json;
  // A label of null is taken as absent before it is validated, see schema/tidy.ts.
  const type = keywords["x-scalar"] === true ? ["string", "null"] : keywords["type"];
  delete keywords["type"];
  if (typeof title === "string") {
    if (Array.isArray(type) && type.includes("null")) {
      const own = type.find((each) => each !== "null"); // a titled schema has one type beside null, and no enum
      const name = publish({ ...keywords, type: own, title }, use, components);
      return { ...described(about), anyOf: [name, { type: "null" }] };
    }
    const component = publish({ ...keywords, ...(type === undefined ? {} : { type }) }, use, components);
    if (JSON.stringify((components[title] ??= component)) !== JSON.stringify(component))
      throw new Error(`Two different schemas have the title ${title}.`);
    return { $ref: `#/components/schemas/${title}`, ...described(about) };
  }
  const { if: condition, then: text, else: other, ...plain } = keywords;
  if (condition !== undefined) return { ...publish(plain, use, components), oneOf: [text, other].map(publishPart) };
  const published = Object.entries({ ...(type === undefined ? {} : { type }), ...plain })
    .filter(([keyword, value]) => isPublished(keyword, value, use))
    .map(([keyword, value]) => {
      if (DATA.has(keyword)) return [keyword, value];
      if (keyword !== "properties") return [keyword, publishPart(value)];
      const members = Object.entries(value as Json).map(([name, member]) => [name, publishPart(member)]);
      return [keyword, Object.fromEntries(members)];
    });
  return Object.fromEntries(published) as Json;
}

function isPublished(keyword: string, value: unknown, use: Use): boolean {
  if (keyword.startsWith("x-") || keyword === "propertyNames") return false;
  if (keyword === "format") return FORMATS.has(String(value));
  // Java's generator makes a map of an object with this, and sends none of its fields.
  if (keyword === "additionalProperties" && value === false) return false;
  return use === "request" || !FOR_REQUESTS_ONLY.has(keyword);
}

function described(about: unknown): Json {
  return typeof about === "string" ? { description: about } : {};
}
