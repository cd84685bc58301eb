import type { Mutant } from "../../mutant.ts";

/** Changes to src/accounts that no client, operator or reader of the log can notice. */
export const accountsEqual: readonly Mutant[] = [
  {
    file: "src/accounts/account.ts",
    before: "old.expires_at < graceEnds ?",
    after: "old.expires_at <= graceEnds ?",
    red: [],
    equal: "If the two times are equal, it does not matter which of them is taken.",
  },
  {
    file: "src/accounts/address.ts",
    before: "/%.*$/",
    after: "/%.*/",
    red: [],
    equal:
      "The two differ only for a text with a line break. Neither the address of a connection nor a header contains one.",
  },
  {
    file: "src/accounts/address.ts",
    before: 'tail === undefined || tail === ""',
    after: "tail === undefined || false",
    red: [],
    equal:
      "An address that ends in :: then has an empty group at its end in place of a zero. Only the first four of its groups are used, and the empty one is the eighth.",
  },
  {
    file: "src/accounts/address.ts",
    before: 'tail === ""',
    after: 'tail === "Stryker was here!"',
    red: [],
    equal:
      "An address that ends in :: then has an empty group at its end in place of a zero. Only the first four of its groups are used, and the empty one is the eighth.",
  },
  {
    file: "src/accounts/address.ts",
    before: '|| tail === "" ? []',
    after: '|| tail === "" ? ["Stryker was here"]',
    red: [],
    equal:
      "The text stands for the eighth group, or a ninth if the address has no ::. Only the first four groups are used.",
  },
  {
    file: "src/accounts/authenticate.ts",
    before: "known === undefined || known.epoch === null",
    after: "known === undefined",
    red: [],
    equal: "No epoch is null. So the comparison that follows finds such a key outdated, too.",
  },
  {
    file: "src/accounts/guard.ts",
    before: 'if (reason === "evict")',
    after: "if (true)",
    red: [],
    equal:
      "Eviction is the only way in which an entry leaves the cache. The code deletes none, gives none another value, and sets no time limit.",
  },
  {
    file: "src/accounts/key.ts",
    before: "text.length === LENGTH && FORM",
    after: "true && FORM",
    red: [],
    equal: "The pattern matches only texts of this length. The comparison only saves time.",
  },
  {
    file: "src/accounts/store.ts",
    before: 'let last = "";',
    after: 'let last = "Stryker was here!";',
    red: [],
    equal: "Every id begins with acct_, which comes after both texts.",
  },
];
