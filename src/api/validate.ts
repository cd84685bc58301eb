import type { SchemaValidateFunction } from "ajv";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { closest, distance } from "fastest-levenshtein";
import type { TSchema } from "typebox";
import { lazy } from "../infra/lazy.ts";
import { type Fault, MAX_FAULTS } from "../problems.ts";
import { isEmailAddress } from "../schema/email.ts";
import { isPhone, phoneFault } from "../schema/phone.ts";
import { escapePointer, pointersTo } from "../schema/pointer.ts";
import { languageNamed, timeZoneNamed } from "../schema/registered-names.ts";
import { isExact } from "../schema/tidy.ts";
import { words } from "../schema/words.ts";

/** Maximum length of an unknown name that is compared with the known ones. */
const MAX_NAME_TO_COMPARE = 100;

/** `validateSchema` would take 40 to 60 ms of each start. test/api/openapi.test.ts checks the schemas instead. */
const options = { allErrors: true, strict: true, allowUnionTypes: true, verbose: true, validateSchema: false } as const;
/** Refuses the numbers of free JSON that would come back changed. Each has a fault of its own. */
const validateExact: SchemaValidateFunction = (_schema: unknown, data: unknown, _parent, at) => {
  const pointers = pointersTo(data, (part) => typeof part === "number" && !isExact(part));
  const fault = { keyword: "x-exact", params: {} };
  validateExact.errors = pointers.map((pointer) => ({ ...fault, instancePath: `${at?.instancePath}${pointer}` }));
  return pointers.length === 0;
};

const forJson = extended(new Ajv2020(options));
const forQuery = extended(new Ajv2020({ ...options, coerceTypes: true, useDefaults: true }));

/**
 * Returns a function that lists the faults of a value, up to one more than a response lists. Call it once for each schema,
 * at the start. Ajv compiles the schema lazily: all of them together take it half a second.
 * @param source `query` converts values from text and fills in defaults, in the validated object itself; `json` does
 * neither.
 */
export function compile(schema: TSchema, source: "json" | "query"): (value: unknown) => Fault[] {
  const compiled = lazy(() => (source === "json" ? forJson : forQuery).compile(schema));
  return (value) => {
    const check = compiled();
    if (check(value)) return [];
    // `if` and `propertyNames` only repeat what the error inside them says.
    const errors = (check.errors ?? []).filter(({ keyword }) => keyword !== "if" && keyword !== "propertyNames");
    return errors.slice(0, MAX_FAULTS + 1).map((error) => ({ pointer: pointerOf(error), detail: detailOf(error) }));
  };
}

/** ajv-formats also takes the offsets `+00` and `+0000`, which are not RFC 3339, and which Date cannot read. */
function isTimestamp(text: string): boolean {
  const { validate } = addFormats.default.get("date-time") as { validate: (text: string) => boolean };
  return /(?:[Zz]|[+-]\d\d:\d\d)$/.test(text) && validate(text);
}

function extended(ajv: Ajv2020): Ajv2020 {
  addFormats.default(ajv);
  ajv.addFormat("date-time", isTimestamp);
  ajv.addFormat("base64", (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text));
  ajv.addFormat("idn-email", isEmailAddress);
  ajv.addFormat("phone", isPhone);
  ajv.addFormat("time-zone", (text) => timeZoneNamed(text) !== undefined);
  ajv.addFormat("language-tag", (text) => languageNamed(text) !== undefined);
  ajv.addKeyword({ keyword: "x-exact", validate: validateExact });
  return ajv.addVocabulary([...words("components x-about x-elsewhere x-explicit x-identifier x-must-be x-scalar")]);
}

function pointerOf({ instancePath, params, propertyName }: ErrorObject): string {
  const { additionalProperty, missingProperty } = params as { additionalProperty?: string; missingProperty?: string };
  const member = additionalProperty ?? missingProperty ?? propertyName;
  return member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`;
}

const INEXACT = "is a number with too many digits to be kept exactly; send it as a string";

const FORMATS: Record<string, string> = {
  base64: "at least one byte as base64 with padding (RFC 4648, section 4)",
  "idn-email": "one email address without a display name or invisible characters, for example name@example.com",
  date: "a date, for example 2026-08-17",
  "language-tag": "a language tag (BCP 47), for example en or pt-BR",
  "time-zone": "an IANA time zone, for example Europe/Berlin",
  "date-time": "a timestamp with an offset, for example 2026-08-17T09:30:00.000Z",
};

interface Params {
  readonly limit: number;
  readonly type?: string | string[];
  readonly format: string;
  readonly allowedValues: (string | null)[];
  readonly additionalProperty: string;
}

/** What to say of an error, by its keyword. */
const DETAILS: Record<string, (params: Params, error: ErrorObject) => string> = {
  additionalProperties: ({ additionalProperty }, { parentSchema }) => unknownMember(additionalProperty, parentSchema),
  // Tidying has made text of every other number.
  type: ({ type }, { parentSchema, data }) =>
    (parentSchema?.["x-scalar"] ?? parentSchema?.["x-identifier"]) === true && typeof data === "number"
      ? INEXACT
      : `must be ${[type].flat().map(withArticle).join(" or ")}, not ${withArticle(typeOf(data, type))}`,
  format: ({ format }, { data }) => {
    if (format === "phone") return `must ${phoneFault(data as string)}`;
    return `must be ${FORMATS[format] ?? format}${format === "date-time" ? offsetHint(data as string) : ""}`;
  },
  pattern: (_, { parentSchema, message }) => `must be ${String(parentSchema?.["x-must-be"] ?? message)}`,
  enum: ({ allowedValues }) => `must be one of ${allowedValues.filter((value) => value !== null).join(", ")}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => `must have at least ${limit} ${limit === 1 ? "character" : "characters"}`,
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} ${limit === 1 ? "item" : "items"}`,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  uniqueItems: () => "must not have the same item twice",
  maxProperties: ({ limit }) => `must have at most ${limit} members`,
  "x-exact": () => INEXACT,
  required: () => "is required",
};

function detailOf(error: ErrorObject): string {
  if (error.propertyName !== undefined) return "must be a name of 1 to 100 characters, other than __proto__";
  return DETAILS[error.keyword]?.(error.params as Params, error) ?? error.message ?? "is not valid";
}

/** Says how to write the offset of a text that is a timestamp otherwise. */
function offsetHint(text: string): string {
  const [, sign] = /T[\d:.]+([ +-])\d\d:?(?:\d\d)?$/i.exec(text) ?? [];
  if (sign === undefined) return "";
  return sign === " "
    ? "; in a query, write the + of an offset as %2B"
    : "; write the offset with a colon, for example +00:00";
}

function unknownMember(name: string, parentSchema: { [keyword: string]: unknown } | undefined): string {
  const elsewhere = (parentSchema?.["x-elsewhere"] ?? {}) as Record<string, string>;
  if (Object.hasOwn(elsewhere, name)) return `cannot be set here: ${elsewhere[name]}`;
  const known = Object.keys(parentSchema?.properties ?? {});
  if (known.length === 0) return "is not known: no members are allowed here";
  const near = nearest(name, known);
  return `is not a known field. ${near === undefined ? "Leave it out" : `Did you mean ${near}?`}`;
}

/** Returns the known name that somebody may have meant: one that differs by a typing error or two, or by its case. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_TO_COMPARE) return undefined;
  const given = plain(name);
  const near = closest(given, known.map(plain));
  const errors = given.length <= 4 ? 1 : 2;
  return distance(given, near) <= errors ? known.find((each) => plain(each) === near) : undefined;
}

/** `firstName` and `first-name` are near `first_name`. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** @param wanted the types that the schema allows. If it allows an integer and refuses a number, the number has a fraction. */
function typeOf(data: unknown, wanted: string | string[] | undefined): string {
  if (data === null) return "null";
  if (typeof data === "number" && [wanted].flat().includes("integer")) return "fraction";
  return Array.isArray(data) ? "array" : typeof data;
}

function withArticle(type = "value"): string {
  if (type === "null") return "null";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
