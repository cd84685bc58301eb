import type { Mutant } from "../../mutant.ts";

/** Changes to src/idempotency that no client, operator or reader of the log can notice. */
export const idempotencyEqual: readonly Mutant[] = [
  {
    file: "src/idempotency/lease.ts",
    before: ".catch(() => false)",
    after: ".catch((() => undefined))",
    red: [],
    equal: "The next line asks only whether it is true.",
  },
  {
    file: "src/idempotency/once.ts",
    before: "if (found === undefined)\n        await",
    after: "if (true)\n        await",
    red: [],
    equal: "If the key has a record, the insertion is refused and changes nothing. It only costs a round trip.",
  },
  {
    file: "src/idempotency/once.ts",
    before: "found.createdAt > now - KEPT_MS;",
    after: "found.createdAt >= now - KEPT_MS;",
    red: [],
    equal:
      "In the millisecond in which a key expires, a request may wait a quarter of a second. It then begins anew all the same.",
  },
];
