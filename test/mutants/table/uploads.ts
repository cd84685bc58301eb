import type { Mutant } from "../mutant.ts";

/** Uploads as they are received, and the preconditions If-Match and If-None-Match. */
export const uploadMutants: readonly Mutant[] = [
  {
    file: "src/http/upload.ts",
    before: "  refuseLarge(req, maxFileBytes, maxFileBytes);\n",
    after: "",
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/http/upload.ts",
    before: "incoming(req, { maxBytes: maxFileBytes, maxFileBytes, timeoutMs })",
    after: "incoming(req, { maxBytes: maxFileBytes + 1, maxFileBytes, timeoutMs })",
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/http/upload.ts",
    before: "[file.sha256, file.filename, file.contentType]",
    after: "[file.filename, file.contentType]",
    red: ["test/documents/add.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: "if (listed.some((tag) => tags.includes(tag) || tags.includes(plainTag(tag)))) return;",
    after: "if (listed.length > 0) return;",
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: "[...views.map((view) => entityTag(JSON.stringify(view))), ...others]",
    after: "views.map((view) => entityTag(JSON.stringify(view)))",
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: 'each.replace(/^W\\//, "")',
    after: "each",
    red: ["test/http", "test/documents/download.test.ts", "test/candidates/read.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: "return coded.find((each) => listed.has(each));",
    after: "return coded.find((each) => listed.has(each)) ?? coded.find(() => listed.size > 0);",
    red: ["test/candidates/list.test.ts"],
  },
];
