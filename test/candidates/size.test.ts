import { expect } from "chai";
import { MAX_CANDIDATE_BYTES, type Stored } from "../../src/candidates/stored.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

/** 50 labels of 500 characters, 75 kB. */
const METADATA = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, "漢".repeat(500)]));

describe("the size of a candidate", () => {
  const service = useService();
  const { client } = useAccount(service);

  /** Gives the first references of a candidate 75 kB each, in the store: through the API it takes seconds. */
  async function enlarge(id: string, count: number): Promise<void> {
    const candidates = service.operators.mongo.db.collection<Stored>("candidates");
    const { references } = (await candidates.findOne({ _id: id }))!;
    const metadata = JSON.stringify(METADATA);
    const larger = references.map((reference, n) => (n < count ? { ...reference, metadata } : reference));
    // With another version, so that the service does not write over it what it remembers.
    await candidates.updateOne({ _id: id }, { $set: { references: larger, version: 2 } });
  }

  it("is limited to 2 MiB, however many requests it grows by", async () => {
    const given = { references: Array.from({ length: 50 }, () => ({})) };
    const { id, references } = (await client.post("/candidates", given)).body;
    await enlarge(id, 26);
    const responses = [];
    for (const reference of references.slice(26, 28))
      responses.push(await client.patch(`/references/${reference.id}`, { metadata: METADATA }));
    const refused = responses.filter(({ status }) => status !== 200);
    expect(refused).to.have.length(1);
    expect(expectProblem(refused[0]!, 413, "payload_too_large").detail).to.contain(`${MAX_CANDIDATE_BYTES} bytes`);
    expect(
      (await client.get(`/candidates/${id}`)).body.references.filter(({ metadata }) => metadata["0"]),
    ).to.have.length(27);
  });

  it("may be larger if the record is older than the limit: it may change, but not grow", async () => {
    const given = { name: "Ann", references: Array.from({ length: 30 }, () => ({})) };
    const { id } = (await client.post("/candidates", given)).body;
    await enlarge(id, 30);
    const changed = await client.patch(`/candidates/${id}`, { name: "Bob" });
    expect(changed.body).to.include({ name: "Bob", version: 3 });
    expect(changed.body.references.filter(({ metadata }) => metadata["0"])).to.have.length(30);
    expectProblem(await client.patch(`/candidates/${id}`, { name: "Anna" }), 413, "payload_too_large");
    const silent = await client.patch(`/candidates/${id}/outreach`, { outreach_enabled: false });
    expect(silent.body.outreach_enabled, "its reminders can be turned off").to.equal(false);
    const hold = { reason: "x".repeat(500) };
    expect((await client.patch(`/candidates/${id}`, { hold })).body.hold, "it can be kept").to.deep.equal(hold);
  });
});
