import type { Mutant } from "../mutant.ts";

/** Erasures: tombstones, and the removal of what lies outside the record. */
export const erasureMutants: readonly Mutant[] = [
  {
    file: "src/candidates/tombstone.ts",
    before: "Date.parse(each.at) > Date.parse(at) - REMEMBERED_MS",
    after: "Date.parse(each.at) > Date.parse(at)",
    red: ["test/erasure/races.test.ts"],
  },
  {
    file: "src/candidates/tombstone.ts",
    before: "Date.parse(each.at) > Date.parse(at) - REMEMBERED_MS",
    after: "Date.parse(each.at) > 0",
    red: ["test/erasure/races.test.ts"],
  },
  {
    file: "src/candidates/tombstone.ts",
    before: "deletions: [...(before?.deletions ?? []), deletion],",
    after: "deletions: [deletion],",
    red: ["test/erasure/races.test.ts"],
  },
  {
    file: "src/candidates/tombstone.ts",
    before: "files: [...(before?.files ?? []), ...files],",
    after: "files: [...files],",
    red: ["test/erasure/races.test.ts"],
  },
  {
    file: "src/candidates/tombstone.ts",
    before: "references: [...(before?.references ?? []), ...references],",
    after: "references: [...references],",
    red: ["test/erasure/races.test.ts"],
  },
  {
    file: "src/candidates/tombstone.ts",
    before: "return { ...tombstone, version: tombstone.version + 1, updated_at };",
    after: "return { ...tombstone, updated_at };",
    red: ["test/candidates/unsettled.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before:
      "if (isTombstone(erased)) await idempotency.end(accountId, id, candidateDeleted(id));\n    else await idempotency.forget(accountId, id);",
    after: "void [idempotency, candidateDeleted];",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: "    else await idempotency.forget(accountId, id);\n",
    after: "",
    red: ["test/erasure/parts.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: "      await content.remove(file);\n",
    after: "      void [content, file];\n",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: "    await this.#removeUnsettled(accountId, id);\n",
    after: "",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: "    await store.references.remove(accountId, erasure.references);\n",
    after: "",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: "for (const deletion of erasure.deletions) await audit.done",
    after: "for (const deletion of erasure.deletions.slice(1)) await audit.done",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: "    await store.reader.erasureFinished({ accountId, id }, erasure);\n",
    after: "",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: 'isDeleted || (entry.stage !== "arriving" && !namesFile(current, entry._id))',
    after: 'isDeleted || entry.stage !== "arriving"',
    red: ["test/erasure/parts.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: 'isDeleted || (entry.stage !== "arriving" && !namesFile(current, entry._id))',
    after: "isDeleted || !namesFile(current, entry._id)",
    red: ["test/erasure/parts.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: "      precondition([renderDocument(candidateId, documentOf(record, id)), taggedCandidate(record)]);\n",
    after: "      void precondition;\n",
    red: ["test/erasure/parts.test.ts"],
  },
  {
    file: "src/candidates/eraser.ts",
    before: "      precondition([renderReference(candidateId, referenceOf(record, id)), taggedCandidate(record)]);\n",
    after: "      void precondition;\n",
    red: ["test/erasure/parts.test.ts"],
  },
];
