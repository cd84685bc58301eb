import type { Mutant } from "../mutant.ts";

/** The bytes of files: chunks, and the list of files that may be left over. */
export const contentMutants: readonly Mutant[] = [
  {
    file: "src/content/chunk-store.ts",
    before: "this.#chunks.deleteMany({ files_id }, limits)",
    after: "this.#chunks.deleteMany({}, limits)",
    red: ["test/content/chunk-store.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: 'if (entry.stage === "replaced") await this.remove(entry._id);',
    after: 'if (entry.stage !== "replaced") await this.remove(entry._id);',
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/pending-store.ts",
    before: "{ key: { account: 1, candidate: 1 } }",
    after: "{ key: { candidate: 1 } }",
    red: ["test/infra/index-list.test.ts"],
  },
  {
    file: "src/content/pending-store.ts",
    before: "this.#pending.find({ account: accountId, candidate: candidateId }, limits)",
    after: "this.#pending.find({ account: accountId, candidate: { $ne: `${candidateId}.` } }, limits)",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/content/pending-store.ts",
    before: "this.#pending.find({ account: accountId, candidate: candidateId }, limits)",
    after: "this.#pending.find({ account: { $ne: accountId.slice(0, 0) }, candidate: candidateId }, limits)",
    red: ["test/erasure"],
    equal: "A candidate's id is unique across accounts, and the caller has read the candidate with the account.",
  },
  {
    file: "src/content/pending-store.ts",
    before: 'updateOne({ _id: id, stage: "arriving" }, { $set: { created_at',
    after: "updateOne({ _id: id }, { $set: { created_at",
    red: ["test/content/pending-store.test.ts"],
  },
  {
    file: "src/content/pending-store.ts",
    before:
      'this.#pending.updateOne({ _id: id, stage: "arriving" }, { $set: { created_at: this.#clock.now() } }, limits),\n    );\n    return matchedCount === 1;',
    after:
      'this.#pending.updateOne({ _id: id, stage: "arriving" }, { $set: { created_at: this.#clock.now() } }, limits),\n    );\n    return matchedCount >= 0;',
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/pending-store.ts",
    before: 'this.#pending.deleteOne({ _id: id, stage: "arriving" }, limits)',
    after: "this.#pending.deleteOne({ _id: id }, limits)",
    red: ["test/content/pending-store.test.ts"],
  },
  {
    file: "src/content/pending-store.ts",
    before: "const before = this.#clock.now() - olderThanMs;",
    after: "const before = this.#clock.now() - olderThanMs * 0;",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/pending-store.ts",
    before: 'this.#pending.updateOne({ _id, created_at }, { $set: { stage: "condemned" } }, limits)',
    after:
      'this.#pending.updateOne({ _id, created_at: { $gte: created_at } }, { $set: { stage: "condemned" } }, limits)',
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/pending-store.ts",
    before:
      'this.#pending.updateOne({ _id, created_at }, { $set: { stage: "condemned" } }, limits),\n    );\n    return matchedCount === 1;',
    after:
      'this.#pending.updateOne({ _id, created_at }, { $set: { stage: "condemned" } }, limits),\n    );\n    return matchedCount >= 0;',
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/pending-store.ts",
    before: "this.#pending.deleteOne({ _id, created_at }, limits)",
    after: "this.#pending.deleteOne({ _id, created_at: { $gte: created_at } }, limits)",
    red: ["test/content/pending-store.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "    await this.#pending.arriving(fileId, owner);\n",
    after: "",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "if (written.size === 0) throw emptyFile();",
    after: "if (written.size < 0) throw emptyFile();",
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/content/file.ts",
    before: "if (size === 0) throw emptyFile();",
    after: "",
    red: ["test/candidates/dry-run.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "if (!isStoreFault(error) && !isStoreFault(failed)) await this.discard([fileId]);",
    after: "void failed;",
    red: ["test/documents/cut-off.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "if (!isStoreFault(error) && !isStoreFault(failed)) await",
    after: "void failed;\n      await",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "if (error instanceof Problem && !isStoreFault(error)) await this.discard(fileIds);",
    after: "if (error instanceof Problem) await this.discard(fileIds);",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "if (error instanceof Problem && !isStoreFault(error)) await this.discard(fileIds);",
    after: "",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "(names(written, id) ? this.#pending.named(id) : this.remove(id))",
    after: "(names(written, id) ? this.#pending.named(id) : this.#pending.named(id))",
    red: ["test/content/left-overs.test.ts", "test/idempotency"],
  },
  {
    file: "src/content/store.ts",
    before: "if (!(await this.#pending.condemn(entry))) return;",
    after: "await this.#pending.condemn(entry);",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before:
      'if (entry.stage === "replaced") await this.remove(entry._id);\n    else await this.#removeBytes(entry._id);',
    after: "await this.remove(entry._id);",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "if (await isNamed(entry)) {",
    after: 'if ((await isNamed(entry)) && entry._id === "") {',
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "if (!(await this.#pending.condemn(entry))) return false;",
    after: "await this.#pending.condemn(entry);",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/store.ts",
    before: "if (file !== null) await this.#files.deleteOne({ _id: id }, limits);",
    after: "void file;",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/content/chunk-store.ts",
    before: "n: first + i, data",
    after: "n: first + data.length - 1 - i, data",
    red: ["test/content/chunk-store.test.ts"],
  },
  {
    file: "src/content/chunk-store.ts",
    before: "n: { $gte: first, $lt: until }",
    after: "n: { $gte: first, $lt: until + 1 }",
    red: ["test/content/chunk-store.test.ts"],
    equal: "The answer has `limit: count` chunks, in order, so the bound from above changes nothing.",
  },
  {
    file: "src/content/chunk-store.ts",
    before: "return this.#held > PLENTY ? 1 :",
    after: "return this.#held < 0 ? 1 :",
    red: ["test/content/chunk-store.test.ts"],
  },
  {
    file: "src/content/chunk-store.ts",
    before: "Math.min(Math.max(before, 1), MAX_BATCH)",
    after: "Math.max(before, 1)",
    red: ["test/content/chunk-store.test.ts"],
  },
  {
    file: "src/content/chunk-store.ts",
    before: "    await this.#writing;\n    const chunks",
    after: "    const chunks",
    red: ["test/content/chunk-store.test.ts"],
  },
  {
    file: "src/content/chunk-store.ts",
    before: "ahead?.found.then(ahead.release, ahead.release);",
    after: "void ahead;",
    red: ["test/content/chunk-store.test.ts"],
  },
];
