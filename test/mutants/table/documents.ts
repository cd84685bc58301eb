import type { Mutant } from "../mutant.ts";

/** Documents and the download of their content. */
export const documentMutants: readonly Mutant[] = [
  {
    file: "src/content/range.ts",
    before: "Math.min(Number(last) + 1, size)",
    after: "Number(last) + 1",
    red: ["test/documents/download.test.ts"],
  },
  {
    file: "src/content/range.ts",
    before: "Math.max(size - Number(last), 0)",
    after: "size - Number(last)",
    red: ["test/documents/download.test.ts"],
  },
  {
    file: "src/content/range.ts",
    before: 'if (last !== "" && Number(last) < Number(first)) return undefined;',
    after: "",
    red: ["test/documents/download.test.ts"],
  },
  {
    file: "src/content/range.ts",
    before: 'range.start < range.end ? range : "unsatisfiable"',
    after: 'range.start <= range.end ? range : "unsatisfiable"',
    red: ["test/documents/download.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: "if (before.documents.some((document) => document.id === id)) return before;",
    after: "",
    red: ["test/content/left-overs.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: "        refuseRemoved(before, id);\n",
    after: "",
    red: ["test/erasure/parts.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: "        precondition([taggedCandidate(before)]);\n",
    after: "        void precondition;\n",
    red: ["test/documents/add.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: '      checkPrecondition(before, id, precondition, "document");\n',
    after: "      void precondition;\n",
    red: ["test/documents/update.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: '      checkPrecondition(before, id, precondition, "content");\n',
    after: "      void precondition;\n",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: '    checkPrecondition(record, documentId, precondition, "content");\n',
    after: "    void precondition;\n",
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: "    refuseContent(documentOf(record, documentId).state, { started: record.started_at !== null });\n",
    after: "",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: 'target === "content" && document.content !== null ? [contentTag(document.content)] : []',
    after: "document.content !== null ? [contentTag(document.content)] : []",
    red: ["test/documents/update.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: "Array.from(file.filename).length > MAX_NAME",
    after: "Array.from(file.filename).length > MAX_NAME + 1",
    red: ["test/documents"],
  },
  {
    file: "src/documents/service.ts",
    before: "changed === before || old === undefined || listed.has(old) ? undefined : old",
    after: 'changed === before || old === undefined || old !== "" ? undefined : old',
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: "changed === before || old === undefined",
    after: "old === undefined",
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/documents/service.ts",
    before: "        await this.#store.get(owner.accountId, owner.candidateId);\n",
    after: "void owner;\n",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/documents/download.ts",
    before: "if (clientHas(tag)) return new BinaryAnswer(304, common);",
    after: "void clientHas;",
    red: ["test/documents/download.test.ts"],
  },
  {
    file: "src/documents/download.ts",
    before: 'ifRange === undefined || ifRange === tag ? rangeOf(header("range"), size) : undefined',
    after: 'ifRange !== "" ? rangeOf(header("range"), size) : undefined',
    red: ["test/documents/download.test.ts"],
  },
  {
    file: "src/documents/download.ts",
    before: '  await once(bytes, "readable");\n',
    after: "  await Promise.resolve(once);\n",
    red: ["test/documents/download.test.ts"],
  },
  {
    file: "src/documents/download.ts",
    before: '"Content-Security-Policy": "sandbox; default-src \'none\'",\n',
    after: "",
    red: ["test/documents/download.test.ts"],
  },
];
