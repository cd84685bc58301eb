import { createHash } from "node:crypto";
import { expect } from "chai";
import { storedRow } from "../../src/candidates/rows.ts";
import { candidateRecord, contentRecord, documentRecord, referenceRecord } from "../support/records.ts";

/** What the row of the record below is. If it changes, raise LIST_SCHEMA_VERSION in candidates/rows.ts, then change both here. */
const ROW = { version: 5, sha256: "6970d029edfebca11e15317e8bba4164c83334e0220d8a9d1a94032beef22011" };

describe("the stored row of a candidate", () => {
  it("changes its schema version with what it shows", () => {
    const documents = [documentRecord({ content: contentRecord() })];
    const { row_form, row } = storedRow(candidateRecord({ documents, references: [referenceRecord()] }));
    expect({ version: row_form, sha256: createHash("sha256").update(row.json).digest("hex") }).to.deep.equal(ROW);
  });
});
