import { expired } from "../../src/candidates/moves.ts";
import { nextExpiry } from "../../src/candidates/states.ts";
import type { DocumentRecord } from "../../src/candidates/record.ts";
import { DOCUMENT_STATES } from "../../src/candidates/document-schema.ts";
import { expect } from "chai";
import { candidateRecord, documentRecord } from "../support/records.ts";

const NOW = "2026-03-02T00:00:10.000Z";
const document = (state: DocumentRecord["state"], expires_on: string | null) =>
  documentRecord({ id: `${state} ${expires_on}`, state, expires_on, updated_at: "before" });
const candidate = (...documents: DocumentRecord[]) => candidateRecord({ documents });

describe("the expiry of a document", () => {
  it("changes only accepted documents", () => {
    const record = candidate(
      ...DOCUMENT_STATES.map((state) => document(state, "2020-01-01")),
      document("accepted", null),
      document("accepted", "2030-01-01"),
    );
    const after = expired(record, "2026-03-02", NOW);
    const changed = after.documents.filter((document, index) => document !== record.documents[index]);
    expect(changed.map(({ id, state }) => `${id}: ${state}`)).to.deep.equal(["accepted 2020-01-01: expired"]);
    expect(expired(after, "2026-03-02", NOW)).to.equal(after);
  });

  it("is indexed by the earliest expires_on of the accepted documents", () => {
    expect(nextExpiry([])).to.equal(null);
    expect(
      nextExpiry([document("received", "2020-01-01"), document("expired", "2020-01-01"), document("accepted", null)]),
    ).to.equal(null);
    expect(nextExpiry([document("accepted", "2027-01-01"), document("accepted", "2026-12-31")])).to.equal("2026-12-31");
  });
});
