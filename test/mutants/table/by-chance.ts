import type { Mutant } from "../mutant.ts";
import { accountsEqual } from "./equal/accounts.ts";
import { apiEqual } from "./equal/api.ts";
import { grantsEqual } from "./equal/grants.ts";
import { httpEqual } from "./equal/http.ts";
import { idempotencyEqual } from "./equal/idempotency.ts";

/** Changes made by chance that no test noticed, and that no client can notice either. */
export const equalMutants: readonly Mutant[] = [
  {
    file: "src/http/json.ts",
    before: "if (countMembers(value) !== members) refuseRepeats(text);",
    after: "if (true) refuseRepeats(text);",
    red: [],
    equal: "refuseRepeats looks for members with the same name itself. The comparison only saves the time of looking.",
  },
  {
    file: "src/infra/mongo.ts",
    before: "performance.now() - began > timeoutMs",
    after: "performance.now() - began >= timeoutMs",
    red: [],
    equal: "The times have fractions of a microsecond, so what has passed is never exactly the time limit.",
  },
  {
    file: "src/infra/redis-writes.ts",
    before: "return !stream.writableNeedDrain;",
    after: "return stream.writableNeedDrain;",
    red: [],
    equal: "ioredis ignores what write returns.",
  },
  {
    file: "src/candidates/recent.ts",
    before: "if (this.#records.size > 0) this.#purgeLater();",
    after: "if (true) this.#purgeLater();",
    red: [],
    equal: "Without records the timer finds nothing to remove, and it does not keep the process running.",
  },
  ...accountsEqual,
  ...apiEqual,
  ...grantsEqual,
  ...httpEqual,
  ...idempotencyEqual,
];
