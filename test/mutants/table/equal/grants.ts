import type { Mutant } from "../../mutant.ts";

/** Changes to src/grants that no client, operator or reader of the log can notice. */
export const grantsEqual: readonly Mutant[] = [
  {
    file: "src/grants/service.ts",
    before: "if (request.id !== undefined) await this.#refuseTaken",
    after: "if (true) await this.#refuseTaken",
    red: [],
    equal:
      "Without an id, it looks for a grant whose id begins with undefined. Every id of a grant begins with grant_, so none is found.",
  },
];
