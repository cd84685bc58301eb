import type { Mutant } from "../../mutant.ts";

/** Changes to src/api that no client can notice. */
export const apiEqual: readonly Mutant[] = [
  {
    file: "src/api/input.ts",
    before: "schema === undefined ? (body: unknown) => body : tidier(schema)",
    after: "schema === undefined ? (() => undefined) : tidier(schema)",
    red: [],
    equal: "Without a schema, what it returns is not used: the body is then undefined, and any value is valid.",
  },
  {
    file: "src/api/openapi-answers.ts",
    before: "/-(In-Flight|Of-File|Of-Problem)$/",
    after: "/-(In-Flight|Of-File|Of-Problem)/",
    red: [],
    equal: "In the names of the headers, each of these words stands at the end.",
  },
  {
    file: "src/api/publish.ts",
    before: "...(type === undefined ? {} : { type }) }, use, components);",
    after: "...(false ? {} : { type }) }, use, components);",
    red: [],
    equal: "A type of undefined counts as absent in the call that publishes this schema.",
  },
];
