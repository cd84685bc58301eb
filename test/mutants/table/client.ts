import type { Mutant } from "../mutant.ts";

/** The client library: the mirror, the waits for limits, and which calls are sent again. */
export const clientMutants: readonly Mutant[] = [
  {
    file: "src/client/mirror.ts",
    before: "this.cursor = cursor; // only now: the caller has stored the page",
    after: "",
    red: ["test/client/mirror.test.ts"],
  },
  {
    file: "src/client/mirror.ts",
    before: "      yield { rows: data.map(rowOf), cursor };\n      this.cursor = cursor;",
    after: "      this.cursor = cursor;\n      yield { rows: data.map(rowOf), cursor };",
    red: ["test/client/mirror.test.ts"],
  },
  {
    file: "src/client/mirror.ts",
    before: "if (has_more) continue;",
    after: "void has_more;",
    red: ["test/client/mirror.test.ts"],
  },
  {
    file: "src/client/limits.ts",
    before: "if (until > (this.#held.get(surface)?.until ?? 0)) this",
    after: "this",
    red: ["test/client/limits.test.ts"],
  },
  {
    file: "src/client/limits.ts",
    before: "if (left > 0) return new RateLimitError",
    after: "if (left > 1e6) return new RateLimitError",
    red: ["test/client/limits.test.ts"],
  },
  {
    file: "src/client/transport.ts",
    before: "if (known.retryAfter * 1000 > waitMs) throw known;",
    after: "",
    red: ["test/client/limits.test.ts"],
  },
  {
    file: "src/client/transport.ts",
    before: "if (payload?.spent()) return false;",
    after: "",
    red: ["test/client/upload.test.ts", "test/client/retries.test.ts"],
  },
  {
    file: "src/client/transport.ts",
    before: '(method !== "PATCH" && options.ifMatch === undefined)',
    after: '(method !== "PATCH" || options.ifMatch === undefined)',
    red: ["test/client/retries.test.ts"],
  },
  {
    file: "src/client/transport.ts",
    before: '(method !== "PATCH" && options.ifMatch === undefined)',
    after: 'method !== "PATCH"',
    red: ["test/client/retries.test.ts"],
  },
  {
    file: "src/client/transport.ts",
    before: "if (![502, 503, 504].includes(error.status)) return false;",
    after: "",
    red: ["test/client/retries.test.ts"],
  },
  {
    file: "src/client/transport.ts",
    before: 'unclear && call.method === "DELETE"',
    after: 'call.method === "DELETE"',
    red: ["test/client/retries.test.ts"],
  },
  {
    file: "src/client/transport.ts",
    before: "options.idempotencyKey ?? crypto.randomUUID()",
    after: "crypto.randomUUID()",
    red: ["test/client/retries.test.ts"],
  },
  {
    file: "src/client/transport.ts",
    before: '...(options.ifMatch === undefined ? {} : { "If-Match": options.ifMatch }),',
    after: "",
    red: ["test/client/operations.test.ts"],
  },
  {
    file: "src/client/transport.ts",
    before: "if (response.status === 429) this.#limits.hold(surface, refusalOf(response));",
    after: "",
    red: ["test/client/limits.test.ts"],
  },
  {
    file: "src/client/download.ts",
    before: "range.end - 1;",
    after: "range.end;",
    red: ["test/client/operations.test.ts"],
  },
];
