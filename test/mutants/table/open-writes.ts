import type { Mutant } from "../mutant.ts";

/** Writes whose outcome is unknown, and the operations on candidates as a whole. */
export const openWriteMutants: readonly Mutant[] = [
  {
    file: "src/candidates/service.ts",
    before: "Math.min(this.#clock.now() - this.#feedLagMs, this.#watermarks.completeUntil())",
    after: "this.#watermarks.completeUntil()",
    red: ["test/candidates/cursor.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before: "Math.min(this.#clock.now() - this.#feedLagMs, this.#watermarks.completeUntil())",
    after: "this.#clock.now() - this.#feedLagMs",
    red: ["test/candidates/cursor.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before: "limit: Math.min(limit, MAX_PAGE_ROWS)",
    after: "limit: Math.min(limit, MAX_PAGE_ROWS + 1)",
    red: ["test/candidates/page-size.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before: "if (clientHas(tag)) return new RenderedJson(Buffer.alloc(0), tag);",
    after: "",
    red: ["test/candidates/rows.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "for (const { at } of this.#underWay) earliest = Math.min(earliest, at);",
    after: "",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "for (const { place } of this.#unsettled.values()) earliest = Math.min(earliest, place.at);",
    after: "",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "let earliest = now;",
    after: "let earliest = Infinity * (now + 1);",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "if (!isDuplicateKey(error)) for (const candidate of candidates) this.settleLater(candidate, place);",
    after: "",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "if (!isDuplicateKey(error)) for (const candidate of candidates) this.settleLater(candidate, place);",
    after: "for (const candidate of candidates) this.settleLater(candidate, place);",
    red: ["test/candidates/races.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "      this.#underWay.delete(place);\n",
    after: "",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "earlier !== undefined && earlier.place.at <= place.at ? earlier.place : place",
    after: "place",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "earlier !== undefined && earlier.place.at <= place.at ? earlier.place : place",
    after: "earlier?.place ?? place",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "this.#unsettled.size > 0 || this.#underWay.size > 0;",
    after: "this.#unsettled.size > 0;",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "this.#unsettled.size > 0 || this.#underWay.size > 0;",
    after: "this.#underWay.size > 0;",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "if (renewed === undefined) return false;",
    after: "if (renewed === undefined) return true;",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "if (this.#unsettled.get(write.id) !== write) return true;",
    after: "",
    red: ["test/candidates/open-writes.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "if (renewed || write.wait > MAX_WAIT_MS) {",
    after: "if (renewed || write.wait > 0) {",
    red: ["test/candidates/unsettled.test.ts"],
  },
  {
    file: "src/candidates/open-writes.ts",
    before: "const takenAt = performance.now();\n  return { at: at(), takenAt };",
    after: "return { at: at(), takenAt: performance.now() };",
    red: ["test/candidates/standstill.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before: "if (before.started_at === null || before.withdrawn) precondition",
    after: "if (before.started_at === null) precondition",
    red: ["test/candidates/start.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before: "if (before.started_at === null || before.withdrawn) precondition",
    after: "if (before.withdrawn) precondition",
    red: ["test/candidates/start.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before: "if (before.started_at === null || before.withdrawn) precondition",
    after: "precondition",
    red: ["test/candidates/start.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before:
      "    const record = await this.#store.change(accountId, id, (before, now) => {\n      precondition([taggedCandidate(before)]);\n",
    after: "    void precondition;\n    const record = await this.#store.change(accountId, id, (before, now) => {\n",
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before: "      if (earlier === null) throw error;\n",
    after: "      if (earlier === null || earlier.version > 0) throw error;\n",
    red: ["test/idempotency/refusal.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before: "      await this.#content.discard(fileIdsOf(records));\n",
    after: "",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/service.ts",
    before:
      "for (const [n, given] of all.entries()) checkNewDocument(given, { now, started: false, at: `/documents/${n}` });",
    after: "",
    red: ["test/documents/races.test.ts"],
  },
];
