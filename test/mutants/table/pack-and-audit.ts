import type { Mutant } from "../mutant.ts";

/** The compliance pack, and the audit trail. */
export const packAndAuditMutants: readonly Mutant[] = [
  {
    file: "src/pack/endpoints.ts",
    before: "if (clientHas(headers.ETag)) return new BinaryAnswer(304, headers);",
    after: "void clientHas;",
    red: ["test/pack/read.test.ts"],
  },
  {
    file: "src/pack/endpoints.ts",
    before: "jsonText([form, layout, facts])",
    after: "jsonText([layout, facts])",
    red: ["test/pack/read.test.ts"],
  },
  {
    file: "src/pack/endpoints.ts",
    before: "const { generated_at: _, ...facts } = pack;",
    after: "const facts = pack;",
    red: ["test/pack/read.test.ts"],
  },
  {
    file: "src/pack/render.ts",
    before: "renderCandidate({ ...record, withdrawn: false })",
    after: "renderCandidate(record)",
    red: ["test/pack/read.test.ts"],
  },
  {
    file: "src/pack/render.ts",
    before: "if (record.documents.length + record.references.length === 0) {",
    after: "if (record.documents.length + record.references.length < 0) {",
    red: ["test/pack/read.test.ts"],
  },
  {
    file: "src/pack/render.ts",
    before: 'if (state === "completed" || waiting_on.length > 0) return',
    after: "if (record.documents.length + record.references.length > 0) return",
    red: ["test/pack/read.test.ts"],
  },
  {
    file: "src/pack/sheet.ts",
    before: 'more === 1 ? "answer"',
    after: 'more === 0 ? "answer"',
    red: ["test/pack/sheet.test.ts"],
  },
  {
    file: "src/pack/checked.ts",
    before: "if (size !== this.#content.size)",
    after: "if (size < 0)",
    red: ["test/pack/zip.test.ts"],
    equal: "The store's stream fails if bytes are missing, and never gives more than it was asked for.",
  },
  {
    file: "src/pack/checked.ts",
    before: 'else if (hash.digest("hex") !== this.#content.sha256)',
    after: 'else if (hash.digest("hex") === "")',
    red: ["test/pack/zip.test.ts"],
  },
  {
    file: "src/pack/bundle.ts",
    before: "files.every(({ problem }) => problem === null)",
    after: "files.every(({ path }) => path !== null)",
    red: ["test/pack/zip.test.ts"],
  },
  {
    file: "src/pack/bundle.ts",
    before: "path: readable ? path : null",
    after: "path",
    red: ["test/pack/zip.test.ts"],
  },
  {
    file: "src/audit/store.ts",
    before: "accountId === undefined ? {} : { account: equals(accountId) }",
    after: "accountId === undefined ? {} : { account: { $ne: equals(accountId).$eq.slice(0, 0) } }",
    red: ["test/audit/trail.test.ts"],
  },
  {
    file: "src/audit/store.ts",
    before: ".sort({ at: -1 })",
    after: ".sort({ at: 1 })",
    red: ["test/audit/trail.test.ts"],
  },
  {
    file: "src/audit/store.ts",
    before: "this.#outcomes.insertOne(outcome, limits)",
    after: "this.#outcomes.updateOne({ _id: outcome._id }, { $set: outcome }, { ...limits, upsert: true })",
    red: ["test/audit/trail.test.ts"],
  },
  {
    file: "src/audit/trail.ts",
    before: '      await this.#end(id, "failed", error',
    after: '      await this.#end(id, "done", error',
    red: ["test/audit/trail.test.ts"],
  },
  {
    file: "src/audit/trail.ts",
    before: "limit < 1 || limit > MAX_LISTED",
    after: "limit < 1 || limit > MAX_LISTED + 1",
    red: ["test/admin", "test/audit"],
  },
];
