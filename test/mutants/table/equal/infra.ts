import type { Mutant } from "../../mutant.ts";

/** Changes to src/infra that no client, operator or reader of the log can notice. */
export const infraEqual: readonly Mutant[] = [
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
    file: "src/infra/log-output.ts",
    before: 'if (this.#open !== "") this.#batches',
    after: 'if (this.#open !== "Stryker was here!") this.#batches',
    red: [],
    equal: "An empty batch is a write of no bytes, which no reader sees.",
  },
];
