import { author } from "../support/records.ts";
import { withoutPart } from "../../src/candidates/parts.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { type Found, isTombstone } from "../../src/candidates/erasure.ts";
import { expect } from "chai";
import { SharedClock } from "../../src/infra/clock.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";
import { useDatabase } from "../support/use-service.ts";

const CONTENT = {
  file_id: "file_1",
  filename: null,
  content_type: "text/plain",
  size: 1,
  sha256: "00",
  uploaded_at: "2026-11-21T12:00:00.000Z",
};
const ACCOUNT = "acct_1";

describe("a candidate that one replica deletes while another one changes it", () => {
  const mongo = useDatabase();

  it("is deleted as it is after the change", async () => {
    const [deleting, changing] = [
      new CandidateStore(mongo, new SharedClock()),
      new CandidateStore(mongo, new SharedClock()),
    ];
    const { id } = await deleting.insert(candidateWithExpiry(ACCOUNT, "2090-01-31"), author());
    const seen: (string | null)[] = [];
    const check = (found: Found) => void seen.push(isTombstone(found) ? null : found.name);
    const find = deleting.reader.find.bind(deleting.reader);
    let reads = 0;
    deleting.reader.find = async (...which) => {
      const found = await find(...which);
      if (++reads === 1) await changing.change(author(ACCOUNT), id, (record) => ({ ...record, name: "Ann" }));
      return found;
    };
    const { version } = await deleting.erase(ACCOUNT, id, "key_1", check);
    expect(seen, "a precondition is checked against each version").to.deep.equal([null, "Ann"]);
    expect(version).to.equal(3);
    const found = await changing.reader.find(ACCOUNT, id);
    expect(found !== null && isTombstone(found)).to.equal(true);
    expect(found?.version).to.equal(3);
  });

  it("stays to be erased further if another part of it is deleted while the first deletion ends", async () => {
    // Seconds apart, because the stand-in for MongoDB takes two times of the same second for equal.
    let now = Date.parse("2026-11-21T12:00:00Z");
    const store = new CandidateStore(mongo, { now: () => (now += 1_000) });
    const { documents, ...draft } = candidateWithExpiry(ACCOUNT, "2090-01-31");
    const { id } = await store.insert(
      {
        ...draft,
        documents: documents.map((each) => ({ ...each, content: CONTENT })),
      },
      author(),
    );
    const second = documents[0]!.id;
    const without = (kind: "documents" | "references", part: string) =>
      store.change(author(ACCOUNT), id, (record, at) => withoutPart(record, kind, part, { key: "key_1", at }));
    const first = await without("references", "ref_1");
    const both = await without("documents", second);
    expect(both.erasure?.deletions.map((each) => each.id)).to.deep.equal(["ref_1", second]);
    expect(both.erasure).to.deep.include({ files: ["file_1"], references: ["ref_1"] });
    await store.reader.erasureFinished(first, first.erasure!);
    expect(await store.reader.unfinishedErasures(10)).to.deep.include({ accountId: ACCOUNT, id });
    await store.reader.erasureFinished(both, both.erasure!);
    expect(await store.reader.unfinishedErasures(10)).not.to.deep.include({ accountId: ACCOUNT, id });
    const next = await store.change(author(ACCOUNT), id, (record) => ({ ...record, name: "Ann" }));
    expect(next.erasure, "the next change does not begin it again").to.equal(null);
  });
});
