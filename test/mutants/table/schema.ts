import type { Mutant } from "../mutant.ts";

const FIELDS = "src/schema/fields.ts";
const PHONE = "src/schema/phone.ts";
const TIDY = "src/schema/tidy.ts";

/** How values are read: merge patches, media types, telephone numbers, names, what is tidied, and the faults of a body. */
export const schemaMutants: readonly Mutant[] = [
  {
    file: "src/schema/merge-patch.ts",
    before: "if (value === null) merged.delete(name);",
    after: "if (value === null) merged.set(name, null);",
    red: ["test/settings/settings.test.ts", "test/candidates/update.test.ts"],
  },
  {
    file: "src/schema/merge-patch.ts",
    before: "mergePatch(merged.get(name), value)",
    after: "value",
    red: ["test/references/references.test.ts"],
  },
  {
    file: FIELDS,
    before: "additionalProperties: false, ...hints",
    after: "...hints",
    red: ["test/candidates/create.test.ts"],
  },
  {
    file: FIELDS,
    before: "maxProperties: 50",
    after: "maxProperties: 51",
    red: ["test/api/openapi.test.ts"],
  },
  {
    file: FIELDS,
    before: ', not: { const: "__proto__" }',
    after: "",
    red: ["test/candidates/create.test.ts", "test/api/openapi.test.ts"],
  },
  {
    file: PHONE,
    before: "parsed === undefined || parsed.ext !== undefined || ",
    after: "parsed === undefined || ",
    red: ["test/untidy/values.test.ts"],
  },
  {
    file: PHONE,
    before: "|| SECOND_NUMBER.test(plain)) return text;",
    after: ") return text;",
    red: ["test/untidy/values.test.ts"],
  },
  {
    file: PHONE,
    before: '.replaceAll(/\\p{Cf}/gu, "")',
    after: "",
    red: ["test/untidy/values.test.ts"],
  },
  {
    file: TIDY,
    before: 'value.trim() === "" ? null',
    after: 'value === "" ? null',
    red: ["test/untidy/rows.test.ts"],
  },
  {
    file: TIDY,
    before: "Number.isSafeInteger(value)",
    after: "true",
    red: ["test/untidy/values.test.ts"],
  },
  {
    file: TIDY,
    before: "value[name] === null && nullIsAbsent",
    after: "value[name] === null",
    red: ["test/untidy/values.test.ts", "test/candidates/update.test.ts"],
  },
  {
    file: TIDY,
    before: 'format === "date" ? text.replace(MIDNIGHT, "$1") : text',
    after: "text",
    red: ["test/untidy/rows.test.ts"],
  },
  {
    file: TIDY,
    before: 'return typeof value === "string" ? value.slice(0, 2 * max + 1) : value;',
    after: "return value;",
    red: ["test/schema/tidy.test.ts"],
  },
  {
    file: TIDY,
    before: "value.slice(0, 2 * max + 1)",
    after: "value.slice(0, max)",
    red: ["test/schema/tidy.test.ts"],
  },
  {
    file: "src/api/validate.ts",
    before: 'keyword !== "if" && keyword',
    after: "keyword",
    red: ["test/api/input.test.ts"],
  },
];
