import { expect } from "chai";
import { newDraft } from "../../src/candidates/new.ts";
import { NO_OUTREACH } from "../../src/candidates/planned.ts";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { encode, MAX_CANDIDATE_BYTES } from "../../src/candidates/stored.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

/** 50 labels of 500 characters, 75 kB. */
const METADATA = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, "漢".repeat(500)]));

describe("the size of a candidate", () => {
  const { client } = useAccount(useService());

  it("is limited to 2 MiB, however many requests it grows by", async () => {
    const created = await client.post("/candidates", {
      references: Array.from({ length: 50 }, (_, n) => (n < 13 ? { metadata: METADATA } : {})),
    });
    const { id, references } = created.body;
    const answers = [];
    for (const reference of references.slice(13, 28))
      answers.push(await client.patch(`/references/${reference.id}`, { metadata: METADATA }));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).to.have.length(1);
    expect(expectProblem(refused[0]!, 413, "payload_too_large").detail).to.contain(`${MAX_CANDIDATE_BYTES} bytes`);
    expect(
      (await client.get(`/candidates/${id}`)).body.references.filter(({ metadata }) => metadata["0"]),
    ).to.have.length(27);
  });
});

describe("a record that was larger before there was a limit", () => {
  const facts = {
    id: "cand_1",
    accountId: "acct_1",
    documents: [],
    newId: () => "ref_1",
    now: "2026-11-22T00:00:00.000Z",
  };
  const references = Array.from({ length: 30 }, () => ({ metadata: METADATA }));
  const large: CandidateRecord = {
    ...newDraft({ references, name: "Ann" }, facts),
    outreach: NO_OUTREACH,
    version: 1,
    state: "created",
    created_at: facts.now,
    updated_at: facts.now,
  };

  it("may change, but not grow", () => {
    expect(encode({ ...large, name: "Bob" }, 1, large).size).to.be.above(MAX_CANDIDATE_BYTES);
    expect(() => encode({ ...large, name: "Anna" }, 1, large)).to.throw("more than");
    expect(() => encode(large, 1)).to.throw("more than");
  });
});
