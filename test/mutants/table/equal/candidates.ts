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
];
