import fc from "fast-check";

export type JsonSchema = { readonly [keyword: string]: unknown };
type Json = fc.JsonValue;

/** Longer texts and lists find no other faults, except for texts of the maximum length. */
const USUAL_LENGTH = 30;
const USUAL_ITEMS = 3;

const FORMATS: Record<string, fc.Arbitrary<string>> = {
  date: fc
    .date({ min: new Date("1900-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  "date-time": fc
    .date({ min: new Date("1900-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  email: fc.emailAddress().filter((address) => address.length <= 254),
  base64: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  "time-zone": fc.constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia"),
  "language-tag": fc.constantFrom("en", "pt-BR", "zh-Hant-TW", "sr-Latn"),
};

/**
 * Generates values that are valid by a JSON Schema. `root` is the document that `$ref`s point into. Supports only the
 * keywords that our contract uses.
 */
export function fromSchema(schema: JsonSchema, root: JsonSchema): fc.Arbitrary<Json> {
  const { $ref, enum: values, type, if: given, then: first, else: other, anyOf } = schema;
  const made = (part: unknown) => fromSchema(part as JsonSchema, root);
  if (typeof $ref === "string") return made(resolve($ref, root));
  if (Array.isArray(values)) return fc.constantFrom(...(values as Json[]));
  if ("const" in schema) return fc.constant(schema.const as Json);
  if (given !== undefined) return fc.oneof(made(first), made(other));
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(made));
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => made({ ...schema, type: each as string })));
  switch (type) {
    case "string":
      return fromString(schema);
    case "integer":
      return fc.integer({ min: numberOf(schema.minimum, -1_000), max: numberOf(schema.maximum, 1_000_000) });
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc
        .array(made(schema.items ?? {}), {
          minLength: numberOf(schema.minItems, 0),
          maxLength: Math.min(USUAL_ITEMS, numberOf(schema.maxItems, USUAL_ITEMS)),
        })
        .map((items) => (schema.uniqueItems === true ? [...new Set(items)] : items));
    case "object":
      return fromObject(schema, root);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function fromObject(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  root: JsonSchema,
): fc.Arbitrary<Json> {
  const members = Object.fromEntries(
    Object.entries(properties as Record<string, JsonSchema>).map(([name, each]) => [name, fromSchema(each, root)]),
  );
  const own = fc.record(members, { requiredKeys: required as string[] });
  if (typeof additionalProperties !== "object" || additionalProperties === null) return own;
  const names = text(1, USUAL_LENGTH).filter((name) => name !== "__proto__" && name.length > 0);
  const others = fc.dictionary(names, fromSchema(additionalProperties as JsonSchema, root), { maxKeys: USUAL_ITEMS });
  return fc.tuple(others, own).map(([more, known]) => ({ ...more, ...known }));
}

function fromString({ format, pattern, minLength, maxLength }: JsonSchema): fc.Arbitrary<string> {
  const [min, max] = [numberOf(minLength, 0), numberOf(maxLength, 1_000)];
  if (typeof format === "string" && format in FORMATS) return FORMATS[format] ?? fc.constant("");
  if (typeof pattern === "string")
    return fc.stringMatching(new RegExp(pattern, "u")).filter((made) => made.length >= min && made.length <= max);
  const longest = fc.constantFrom("x".repeat(max), "😀".repeat(max));
  return fc.oneof({ weight: 12, arbitrary: text(min, Math.min(max, USUAL_LENGTH)) }, { weight: 1, arbitrary: longest });
}

function text(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ minLength, maxLength }),
    fc.string({ unit: "binary", minLength, maxLength }),
    fc
      .constantFrom("'; DROP TABLE candidates;--", "$where", "a.b", "\0", "\u202Egpj.exe", "NaN", " ")
      .filter((each) => each.length >= minLength && each.length <= maxLength),
  );
}

export function resolve(ref: string, root: JsonSchema): unknown {
  return ref
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((part, name) => (part as JsonSchema)[name.replaceAll("~1", "/").replaceAll("~0", "~")], root);
}

function numberOf(value: unknown, fallback: number): number {
  return typeof value === "number" ? value : fallback;
}

const WRONG: readonly Json[] = [
  null,
  true,
  -1,
  1e308,
  0.5,
  "",
  "x".repeat(5_000),
  [],
  {},
  [[]],
  { a: { b: [1] } },
  "0001-02-30",
  "\ud800",
  2 ** 53,
];

/** Generates nearly valid values: in a valid one, replaces or removes one member, or adds an unknown one. */
export function spoiled(good: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc
    .tuple(good, fc.nat(), fc.constantFrom(...WRONG), fc.constantFrom("replace", "remove", "add"))
    .map(([value, nth, wrong, how]) => {
      const copy = structuredClone(value);
      const places = placesIn(copy);
      const [holder, name] = places[nth % Math.max(places.length, 1)] ?? [];
      if (holder === undefined || name === undefined) return wrong;
      if (how === "replace") holder[name] = wrong;
      else if (how === "remove") delete holder[name];
      else
        Object.defineProperty(holder, ["unknown", "__proto__", "constructor", "nmae"][nth % 4] ?? "unknown", {
          value: wrong,
          enumerable: true,
        });
      return copy;
    });
}

function placesIn(value: Json | undefined): [Record<string, Json>, string][] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, Json>;
  return Object.keys(holder).flatMap((name) => [
    [holder, name] as [Record<string, Json>, string],
    ...placesIn(holder[name]),
  ]);
}
