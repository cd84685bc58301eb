import type { Mutant } from "../../mutant.ts";

/** Changes to src/http that no client can notice. */
export const httpEqual: readonly Mutant[] = [
  {
    file: "src/http/body.ts",
    before: 'return parseMediaType(req.headers["content-type"] ?? "")?.essence;',
    after: 'return parseMediaType(req.headers["content-type"] ?? "Stryker was here!")?.essence;',
    red: [],
    equal: "Neither text is a media type, so both are taken for none.",
  },
  {
    file: "src/http/body.ts",
    before: "    return undefined;\n",
    after: "",
    red: [],
    equal: "A function that ends without a return returns undefined as well.",
  },
  {
    file: "src/http/entity-tags.ts",
    before: "?? [];",
    after: '?? ["Stryker was here"];',
    red: [],
    equal:
      "An entity tag begins with a quote, so none is equal to that text. A list with it matches as few tags as none.",
  },
  {
    file: "src/http/form.ts",
    before: 'or add the boundary yourself.",\n      { cause },',
    after: 'or add the boundary yourself.",\n      {},',
    red: [],
    equal: "The log has the cause of a 5xx only. This problem is a 400, so nobody reads its cause.",
  },
  {
    file: "src/http/form.ts",
    before: 'Send it again, complete.",\n    { cause },',
    after: 'Send it again, complete.",\n    {},',
    red: [],
    equal: "The log has the cause of a 5xx only. This problem is a 400, so nobody reads its cause.",
  },
  {
    file: "src/http/json.ts",
    before: "if (countMembers(value) !== members) refuseRepeats(text);",
    after: "if (true) refuseRepeats(text);",
    red: [],
    equal: "refuseRepeats looks for members with the same name itself. The comparison only saves the time of looking.",
  },
];
