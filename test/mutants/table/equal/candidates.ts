import type { Mutant } from "../../mutant.ts";

/** Changes to src/candidates that no client, operator or reader of the log can notice. */
export const candidatesEqual: readonly Mutant[] = [
  {
    file: "src/candidates/recent.ts",
    before: "if (this.#records.size > 0) this.#purgeLater();",
    after: "if (true) this.#purgeLater();",
    red: [],
    equal: "Without records the timer finds nothing to remove, and it does not keep the process running.",
  },
  {
    file: "src/candidates/stored-row.ts",
    before: "const UNCHECKED = { validation: { utf8: false } };",
    after: "const UNCHECKED = { validation: { utf8: true } };",
    red: [],
    equal: "Places are ASCII, which is valid UTF-8. The check only costs time.",
  },
];
