import type { Mutant } from "../mutant.ts";

/** Settings, and quiet hours. */
export const settingsMutants: readonly Mutant[] = [
  {
    file: "src/settings/store.ts",
    before: "this.#settings.findOne({ _id: accountId }, limits)",
    after: "this.#settings.findOne({ _id: { $gte: accountId.slice(0, 0) } }, limits)",
    red: ["test/settings/settings.test.ts"],
  },
  {
    file: "src/settings/store.ts",
    before: "this.#settings.replaceOne({ _id: accountId, version }, stored, limits)",
    after: "this.#settings.replaceOne({ _id: accountId, version: { $gte: version } }, stored, limits)",
    red: ["test/settings/concurrency.test.ts"],
  },
  {
    file: "src/settings/store.ts",
    before: "replace)).matchedCount === 1;",
    after: "replace)).matchedCount >= 0;",
    red: ["test/settings/concurrency.test.ts"],
  },
  {
    file: "src/settings/store.ts",
    before: "if (isDuplicateKey(error)) return false;",
    after: "if (isDuplicateKey(error)) return true;",
    red: ["test/settings/concurrency.test.ts"],
  },
  {
    file: "src/settings/store.ts",
    before: "if (isDeepStrictEqual(values, before.values)) return before;",
    after: "",
    red: ["test/settings/settings.test.ts"],
  },
  {
    file: "src/settings/service.ts",
    before: "      precondition([taggedAssistant(before)]);\n",
    after: "      void precondition;\n",
    red: ["test/settings/settings.test.ts"],
  },
  {
    file: "src/settings/service.ts",
    before: "      precondition([renderQuietHours(before)]);\n",
    after: "      void precondition;\n",
    red: ["test/settings/settings.test.ts"],
  },
  {
    file: "src/settings/service.ts",
    before: "{ ...patch, language: languageNamed(patch.language) }",
    after: "{ ...patch }",
    red: ["test/settings/fields.test.ts"],
  },
  {
    file: "src/settings/schema.ts",
    before: "Type.Integer({ minimum: 1, maximum: 720 })",
    after: "Type.Integer({ minimum: 1, maximum: 721 })",
    red: ["test/settings/fields.test.ts"],
  },
  {
    file: "src/settings/schema.ts",
    before: "Type.Integer({ minimum: 1, maximum: 720 })",
    after: "Type.Integer({ minimum: 0, maximum: 720 })",
    red: ["test/settings/fields.test.ts"],
  },
  {
    file: "src/settings/schema.ts",
    before: "([01][0-9]|2[0-3]):[0-5][0-9]",
    after: "([01][0-9]|2[0-4]):[0-5][0-9]",
    red: ["test/settings/fields.test.ts"],
  },
  {
    file: "src/settings/schema.ts",
    before: "Type.Array(Weekday, { minItems: 1, uniqueItems: true })",
    after: "Type.Array(Weekday, { uniqueItems: true })",
    red: ["test/settings/fields.test.ts"],
  },
  {
    file: "src/settings/schema.ts",
    before: "nullable(freeText(2000))",
    after: "nullable(freeText(2001))",
    red: ["test/settings/fields.test.ts"],
  },
  {
    file: "src/settings/quiet-hours.ts",
    before: "window.start >= window.end || window.end <= now",
    after: "window.start >= window.end || window.end < now",
    red: ["test/settings/quiet-hours.test.ts"],
  },
  {
    file: "src/settings/quiet-hours.ts",
    before: "first.start <= now;",
    after: "first.start < now;",
    red: ["test/settings/quiet-hours.test.ts"],
  },
  {
    file: "src/settings/quiet-hours.ts",
    before: "window.start > period.end",
    after: "window.start >= period.end",
    red: ["test/settings/quiet-hours.test.ts"],
  },
  {
    file: "src/settings/quiet-hours.ts",
    before: "const lastDay = end > start ? day",
    after: "const lastDay = end >= start ? day",
    red: ["test/settings/quiet-hours.test.ts"],
  },
  {
    file: "src/settings/quiet-hours.ts",
    before: 'start: instantShowing(first, timezone, "earlier")',
    after: 'start: instantShowing(first, timezone, "later")',
    red: ["test/settings/quiet-hours.test.ts"],
  },
  {
    file: "src/settings/quiet-hours.ts",
    before: 'end: instantShowing(last, timezone, "later")',
    after: 'end: instantShowing(last, timezone, "earlier")',
    red: ["test/settings/quiet-hours.test.ts"],
  },
  {
    file: "src/settings/quiet-hours.ts",
    before: "    const known = this.#known.find(({ end }) => end > now);",
    after: "    const known = this.#known.findLast(({ end }) => end > now);",
    red: ["test/settings/quiet-hours.test.ts"],
  },
  {
    file: "src/settings/quiet-hours.ts",
    before: "`${day} ${timezone} ${start} ${end} ${days.join()}`",
    after: "`${day} ${timezone} ${start} ${end} ${days.length}`",
    red: ["test/settings/quiet-hours.test.ts"],
  },
  {
    file: "src/settings/quiet-hours.ts",
    before: "first.start <= now ? first.end : undefined;\n}\n\nconst calendars",
    after: "first.start < now ? first.end : undefined;\n}\n\nconst calendars",
    red: ["test/settings/quiet-hours.test.ts"],
  },
];
