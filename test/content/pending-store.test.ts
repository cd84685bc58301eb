import { expect } from "chai";
import { PendingStore } from "../../src/content/pending-store.ts";
import { useDatabase } from "../support/use-service.ts";

const OWNER = { accountId: "acct_1", candidateId: "cand_1" };

describe("the list of files that a record may not name", () => {
  const mongo = useDatabase();
  let now = 1_000;
  let files = 0;
  let id: string;
  let pending: PendingStore;
  beforeEach(() => {
    pending = new PendingStore(mongo, { now: () => now++ });
    id = `file_${files++}`;
  });
  const entry = async () => (await pending.ofCandidate(OWNER)).find(({ _id }) => _id === id);

  it("refuses an upload that the sweep has condemned and not yet removed", async () => {
    await pending.arriving(id, OWNER);
    const found = (await entry())!;
    expect(await pending.condemn(found)).to.equal(true);
    expect(await pending.arrived(id)).to.equal(false);
    expect((await entry())?.stage).to.equal("condemned");
  });

  it("keeps a file that is being replaced already when its record is written", async () => {
    await pending.arriving(id, OWNER);
    await pending.replaced(id, OWNER);
    await pending.named(id);
    expect((await entry())?.stage).to.equal("replaced");
  });

  it("drops a file once its record names it", async () => {
    await pending.arriving(id, OWNER);
    expect(await pending.arrived(id)).to.equal(true);
    await pending.named(id);
    expect(await entry()).to.equal(undefined);
  });

  it("neither condemns nor forgets a file that a request has worked with since it was found", async () => {
    await pending.arriving(id, OWNER);
    const found = (await entry())!;
    await pending.arrived(id);
    expect(await pending.condemn(found)).to.equal(false);
    await pending.forget(found);
    expect((await entry())?.stage).to.equal("arriving");
    await pending.forget((await entry())!);
    expect(await entry()).to.equal(undefined);
  });

  it("lists the files of one candidate, not those of another", async () => {
    await pending.arriving(id, { ...OWNER, candidateId: "cand_2" });
    expect(await entry()).to.equal(undefined);
  });

  it("notes whose file it is, what happens to it and since when", async () => {
    await pending.arriving(id, OWNER);
    const first = { _id: id, account: "acct_1", candidate: "cand_1", stage: "arriving", created_at: now - 1 };
    expect(await entry()).to.deep.equal(first);
    await pending.arrived(id);
    expect(await entry()).to.deep.equal({ ...first, created_at: now - 1 });
    await pending.replaced(id, OWNER);
    expect(await entry()).to.deep.equal({ ...first, stage: "replaced", created_at: now - 1 });
    await pending.gone(id);
    expect(await entry()).to.equal(undefined);
    await pending.replaced(id, OWNER);
    expect(await entry()).to.deep.equal({ ...first, stage: "replaced", created_at: now - 1 });
    await pending.gone(id);
  });

  it("finds up to 100 files that are old enough, the oldest first", async () => {
    const owner = { accountId: "acct_2", candidateId: "cand_9" };
    now = 10;
    const ids = Array.from({ length: 102 }, (_, n) => `old_${n}`);
    await Promise.all(ids.map((each) => pending.arriving(each, owner))); // at 10 to 111
    now = 111 + 5;
    expect((await pending.leftOvers(5)).map(({ _id }) => _id)).to.deep.equal(ids.slice(0, 100));
    await Promise.all(ids.slice(0, 99).map((each) => pending.gone(each)));
    now = 111 + 4;
    expect(
      (await pending.leftOvers(5)).map(({ _id }) => _id),
      "a millisecond before",
    ).to.deep.equal(ids.slice(99, 101));
    now = 111 + 5;
    expect((await pending.leftOvers(5)).map(({ _id }) => _id)).to.deep.equal(ids.slice(99));
    await Promise.all(ids.slice(99).map((each) => pending.gone(each)));
    now = 1_000;
  });
});
