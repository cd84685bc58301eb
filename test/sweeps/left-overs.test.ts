import { author } from "../support/records.ts";
import { expect } from "chai";
import { CandidateStore } from "../../src/candidates/store.ts";
import { ContentStore } from "../../src/content/store.ts";
import { IdempotencyStore } from "../../src/idempotency/store.ts";
import { idempotencyRecords, leftOverBytes } from "../../src/sweeps/sweep.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { useDatabase } from "../support/use-service.ts";
import { candidateWithExpiry } from "./support.ts";

const HOUR = 60 * 60 * 1000;

describe("the sweeps of leftovers", () => {
  const mongo = useDatabase();
  let now = Date.parse("2026-06-01T00:00:00Z");
  const clock = { now: () => now };
  const { signal } = new AbortController();

  it("delete files that no candidate references an hour after their upload, and keep referenced files", async () => {
    const candidates = new CandidateStore(mongo, clock);
    const content = new ContentStore(mongo, clock);
    await createIndexes(mongo.db, [candidates.reader, content]);
    const draft = candidateWithExpiry("acct", "2090-01-31");
    const files = () => mongo.db.collection("content.files").find().toArray();
    const write = async () =>
      content.store(
        { stream: [Buffer.from("bytes")], filename: null, contentType: null },
        { accountId: "acct", candidateId: draft.id },
      );
    const [named] = [await write(), await write()];
    const kept = {
      file_id: named.id,
      filename: null,
      content_type: named.contentType,
      size: named.size,
      sha256: named.sha256,
      uploaded_at: "2026-06-01T00:00:00.000Z",
    };
    await candidates.insert(
      {
        ...draft,
        documents: draft.documents.map((document) => ({ ...document, content: kept })),
      },
      author(),
    );

    const sweep = leftOverBytes(content, candidates.reader);
    now += HOUR - 1;
    expect(await sweep.run(signal)).to.equal(0);
    expect(await files()).to.have.length(2);
    now += 1;
    expect(await sweep.run(signal)).to.equal(1);
    expect((await files()).map(({ _id }) => String(_id))).to.deep.equal([named.id]);
    expect(await sweep.run(signal)).to.equal(0);
  });

  it("delete idempotency records after a day", async () => {
    const records = new IdempotencyStore(mongo);
    await createIndexes(mongo.db, [records]);
    const made = { account: "acct", fingerprint: "f", seed: "s", owner: "o", lease_until: 0, outcome: null } as const;
    await records.insert({ ...made, _id: "old", state: "running", created_at: now - 24 * HOUR - 1 });
    await records.insert({ ...made, _id: "young", state: "running", created_at: now - 24 * HOUR });
    const sweep = idempotencyRecords(records, clock);
    expect(await sweep.run(signal)).to.equal(1);
    expect(await records.find("acct", "old")).to.equal(null);
    expect(await records.find("acct", "young")).to.include({ _id: "young" });
  });
});
