import type { Mutant } from "../mutant.ts";

/** References with their look-ups, and outreach. */
export const referenceMutants: readonly Mutant[] = [
  {
    file: "src/candidates/reference-edits.ts",
    before: "record.references.length >= MAX_REFERENCES",
    after: "record.references.length > MAX_REFERENCES",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/candidates/reference-edits.ts",
    before: "bytes <= MAX_RESPONSE_BYTES && values <= MAX_RESPONSE_VALUES",
    after: "values <= MAX_RESPONSE_VALUES",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/candidates/reference-edits.ts",
    before: "bytes <= MAX_RESPONSE_BYTES && values <= MAX_RESPONSE_VALUES",
    after: "bytes <= MAX_RESPONSE_BYTES",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/candidates/reference-edits.ts",
    before: "bytes <= MAX_RESPONSE_BYTES && values <= MAX_RESPONSE_VALUES",
    after: "bytes < MAX_RESPONSE_BYTES && values < MAX_RESPONSE_VALUES",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/candidates/reference-edits.ts",
    before: "if (state !== before.state) refuseContradiction(state, { from: before.state, started });",
    after: "void started;",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/candidates/reference-edits.ts",
    before: 'const received_at = state === "received" ? now : null;',
    after: "const received_at = now;",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/candidates/reference-edits.ts",
    before: 'state === "not_requested" ? null : before.requested_at',
    after: "before.requested_at",
    red: ["test/references/references.test.ts"],
    equal: "A reference is not_requested only before the start, when it was never requested.",
  },
  {
    file: "src/references/service.ts",
    before: "if (before.references.some((reference) => reference.id === id)) return before;",
    after: "",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/references/service.ts",
    before: "      refuseRemoved(before, id);\n      precondition([taggedCandidate(before)]);\n",
    after: "      refuseRemoved(before, id);\n      void precondition;\n",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/references/service.ts",
    before: "      refuseRemoved(before, id);\n",
    after: "",
    red: ["test/erasure/parts.test.ts"],
  },
  {
    file: "src/references/service.ts",
    before: "      precondition([renderReference(before.id, reference), taggedCandidate(before)]);\n",
    after: "      void precondition;\n",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/references/service.ts",
    before: "if (edited === reference) return before;",
    after: "",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/references/service.ts",
    before: 'error.code === "candidate_deleted" ? noReference(id) : error',
    after: 'id === "" ? noReference(id) : error',
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/reference-index-store.ts",
    before: "this.#entries.findOne({ _id: referenceId, account: accountId }, limits)",
    after: 'this.#entries.findOne({ _id: referenceId, account: { $ne: "" } }, limits)',
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/candidates/reference-index-store.ts",
    before: "const entries = { _id: { $in: [...referenceIds] }, account: accountId };",
    after: "const entries = { _id: { $in: [...referenceIds] }, account: { $ne: accountId.slice(0, 0) } };",
    red: ["test/erasure"],
    equal: "The ids come from a record that was read with the account just before, and an id is never used twice.",
  },
  {
    file: "src/candidates/reference-index-store.ts",
    before: "this.#known.get(`${accountId} ${referenceId}`) ??",
    after: "[...this.#known].find(([key]) => key.endsWith(` ${referenceId}`))?.[1] ??",
    red: ["test/references/references.test.ts"],
  },
  {
    file: "src/candidates/reference-index-store.ts",
    before: "if (refused) await this.remove(accountId, ids).catch(() => undefined);",
    after: "void [refused, ids];",
    red: ["test/candidates/create.test.ts"],
  },
  {
    file: "src/candidates/reference-index-store.ts",
    before: 'error instanceof Problem && error.code !== "store_unavailable";',
    after: "error instanceof Problem;",
    red: ["test/candidates/unsettled.test.ts"],
  },
  {
    file: "src/candidates/reference-index-store.ts",
    before: "      if (!isDuplicateKey(error)) throw error;\n",
    after: "      throw error;\n",
    red: ["test/candidates/races.test.ts"],
  },
  {
    file: "src/candidates/reference-index-store.ts",
    before: "insertMany(entries, { ...limits, ordered: false })",
    after: "insertMany(entries, { ...limits, ordered: true })",
    red: ["test/candidates/races.test.ts"],
  },
  {
    file: "src/outreach/service.ts",
    before: "      precondition([taggedCandidate(before)]);\n",
    after: "      void precondition;\n",
    red: ["test/outreach/outreach.test.ts"],
  },
];
