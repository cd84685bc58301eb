import type { Mutant } from "../mutant.ts";

/** When keys were last used. */
export const lastUsedMutants: readonly Mutant[] = [
  {
    file: "src/accounts/last-used.ts",
    before: "this.#periodMs * Math.random()",
    after: "this.#periodMs",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "this.#timer = setInterval(write, this.#periodMs).unref();\n",
    after: "",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "setInterval(write, this.#periodMs).unref()",
    after: "setInterval(write, this.#periodMs)",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "* Math.random()).unref()",
    after: "* Math.random())",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "    clearTimeout(this.#timer);\n",
    after: "",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "      await this.#writing;\n      await this.#write();\n",
    after: "      await this.#write();\n",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "await Promise.race([written, wait(withinMs, undefined, { ref: false })]);",
    after: "await written;",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "if (isNew && this.#uses.size >= MAX_REMEMBERED) return;",
    after: "",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "if (isNew && this.#uses.size === MAX_REMEMBERED) void",
    after: "if (this.#uses.size === MAX_REMEMBERED) void",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "this.#writing ??= this.#writeAll()",
    after: "this.#writing = this.#writeAll()",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: ".finally(() => (this.#writing = undefined))",
    after: "",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "if (this.#uses.size === 0) return;",
    after: "",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "      this.#keep(uses);\n",
    after: "",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "this.#uses.size < MAX_REMEMBERED && !this.#uses.has(keyId)",
    after: "!this.#uses.has(keyId)",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/last-used.ts",
    before: "this.#uses.size < MAX_REMEMBERED && !this.#uses.has(keyId)",
    after: "this.#uses.size < MAX_REMEMBERED",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/compose.ts",
    before: "  lastUsed.start();\n",
    after: "",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/compose.ts",
    before: "        lastUsed.stop(SETTLE_WITHIN_MS),\n",
    after: "",
    red: ["test/accounts/last-used.test.ts"],
  },
];
