import type { Mutant } from "../mutant.ts";

/** What protects edits of a candidate and its documents, and the checks of a new candidate. */
export const editMutants: readonly Mutant[] = [
  {
    file: "src/candidates/document-edits.ts",
    before: "record.documents.length >= MAX_DOCUMENTS",
    after: "record.documents.length > MAX_DOCUMENTS",
    red: ["test/documents/add.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: "if (changed === document) return record;",
    after: "",
    red: ["test/documents/update.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: "edited.state !== before.state || edited.expires_on !== before.expires_on",
    after: "edited.state !== before.state",
    red: ["test/documents/update.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: "if (edited.state !== before.state || edited.expires_on !== before.expires_on)\n    refuse",
    after: "refuse",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: '  refuseReason(state, given, "");\n',
    after: "",
    red: ["test/documents/update.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: '  refuseReason(state, given, "");\n  return null;',
    after: '  refuseReason(state, given, "");\n  return before.rejection_reason;',
    red: ["test/documents/update.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: 'if (before.state === "received" && isSame(before.content, content)) return before;',
    after: "",
    red: ["test/documents/put-content.test.ts", "test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: 'if (before.state === "received" && isSame(before.content, content)) return before;',
    after: "if (isSame(before.content, content)) return before;",
    red: ["test/documents/put-content.test.ts", "test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: "one?.sha256 === other.sha256 && one.filename === other.filename",
    after: "one !== null && one.filename === other.filename",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: "one.filename === other.filename && one.content_type === other.content_type",
    after: "one.content_type === other.content_type",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: "one.filename === other.filename && one.content_type === other.content_type",
    after: "one.filename === other.filename",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/document-edits.ts",
    before: "  refuseContent(before.state, { started });\n",
    after: "  void started;\n",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/new.ts",
    before: "if (file || content) refuseContent",
    after: "if (file && content) refuseContent",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/new.ts",
    before: "  refuseContradiction({ state, expires_on }, { from: null, started, now, at });\n",
    after: "  void [started, now, expires_on];\n",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/new.ts",
    before: "  refuseReason(state, rejection_reason, at);\n",
    after: "",
    red: ["test/documents/races.test.ts"],
  },
  {
    file: "src/candidates/new.ts",
    before: "  refuseReferenceContradiction(state, { from: null, started, at });\n",
    after: "",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/candidates/edits.ts",
    before: "if (record.started_at !== null) return record;",
    after: "",
    red: ["test/candidates/start.test.ts"],
  },
  {
    file: "src/candidates/edits.ts",
    before: "  if (record.withdrawn)\n    throw problem(",
    after: "  if (record.withdrawn && record.started_at !== null)\n    throw problem(",
    red: ["test/candidates/start.test.ts"],
  },
  {
    file: "src/candidates/edits.ts",
    before: "  if (record.withdrawn)\n    throw problem(",
    after: "  if (record.withdrawn && record.started_at === null)\n    throw problem(",
    red: ["test/candidates/start.test.ts"],
  },
  {
    file: "src/candidates/edits.ts",
    before: "if (!withdrawn && withdrawal_reason) {",
    after: 'if (!withdrawn && withdrawal_reason === "") {',
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/candidates/edits.ts",
    before: "(withdrawal_reason === undefined ? record.withdrawal_reason : withdrawal_reason) : null",
    after:
      "(withdrawal_reason === undefined ? record.withdrawal_reason : withdrawal_reason) : record.withdrawal_reason",
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/candidates/edits.ts",
    before: "return ownFields(edited) === ownFields(record) ? record : edited;",
    after: "return edited;",
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/candidates/edits.ts",
    before: "if (count > 50) {",
    after: "if (count > 51) {",
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/candidates/edits.ts",
    before: "return same ? record :",
    after: "return same && record.version < 0 ? record :",
    red: ["test/outreach/outreach.test.ts"],
  },
];
