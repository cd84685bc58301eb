import { expect } from "chai";
import { ContentStore, type PendingFile } from "../../src/content/store.ts";
import { useDatabase } from "../support/use-service.ts";

const OWNER = { accountId: "acct_1", candidateId: "cand_1" };

describe("the list of files that a record may not name", () => {
  const mongo = useDatabase();
  let now = 1_000;
  let contents: ContentStore;
  beforeEach(() => {
    contents = new ContentStore(mongo, { now: () => now++ });
  });
  const entry = async (id: string) => (await contents.unsettled(OWNER)).find(({ _id }) => _id === id);
  /** Uploads a file. @param midway is called with its entry while its bytes arrive. */
  async function upload(midway: (arriving: PendingFile) => unknown = () => undefined, owner = OWNER): Promise<string> {
    const known = (await contents.unsettled(owner)).map(({ _id }) => _id);
    async function* stream() {
      yield Buffer.alloc(1);
      await midway((await contents.unsettled(owner)).find(({ _id }) => !known.includes(_id))!);
    }
    return (await contents.store({ stream: stream(), filename: null, contentType: null }, owner)).id;
  }
  const keep = (id: string) =>
    contents.settle(
      [id],
      () => Promise.resolve(),
      () => true,
    );
  const named = () => Promise.resolve(true);

  it("refuses an upload that the sweep has condemned and not yet removed", async () => {
    let found: PendingFile | undefined;
    const uploaded = upload(async (arriving) => {
      found = arriving;
      await contents.removeUnsettled(arriving);
      expect((await entry(arriving._id))?.stage).to.equal("condemned");
    });
    expect(await uploaded.catch((error: unknown) => error)).to.include({ code: "request_timeout" });
    expect(await entry(found!._id)).to.equal(undefined);
  });

  it("keeps a file that is being replaced already when its record is written", async () => {
    const id = await upload();
    await contents.replaced(id, OWNER);
    await keep(id);
    expect((await entry(id))?.stage).to.equal("replaced");
  });

  it("drops a file once its record names it", async () => {
    const id = await upload();
    await keep(id);
    expect(await entry(id)).to.equal(undefined);
  });

  it("neither condemns nor forgets a file that a request has worked with since it was found", async () => {
    let found: PendingFile | undefined;
    const id = await upload((arriving) => (found = arriving));
    expect(await contents.removeLeftOver(found!, () => Promise.resolve(false))).to.equal(false);
    await contents.removeLeftOver(found!, named);
    expect((await entry(id))?.stage).to.equal("arriving");
    await contents.removeLeftOver((await entry(id))!, named);
    expect(await entry(id)).to.equal(undefined);
  });

  it("lists the files of one candidate, not those of another", async () => {
    expect(await entry(await upload(undefined, { ...OWNER, candidateId: "cand_2" }))).to.equal(undefined);
  });

  it("notes whose file it is, what happens to it and since when", async () => {
    const first = { account: "acct_1", candidate: "cand_1", stage: "arriving" };
    const id = await upload((arriving) => expect(arriving).to.deep.include({ ...first, created_at: now - 1 }));
    expect(await entry(id)).to.deep.equal({ _id: id, ...first, created_at: now - 1 });
    for (const _ of ["changes the entry", "makes a new one"]) {
      await contents.replaced(id, OWNER);
      expect(await entry(id)).to.deep.equal({ _id: id, ...first, stage: "replaced", created_at: now - 1 });
      await contents.remove(id);
      expect(await entry(id)).to.equal(undefined);
    }
  });

  it("finds up to 100 files that are old enough, the oldest first", async () => {
    const owner = { accountId: "acct_2", candidateId: "cand_9" };
    await mongo.db.collection("content_pending").deleteMany();
    now = 10;
    const ids = Array.from({ length: 102 }, (_, n) => n.toString(16).padStart(24, "0"));
    await Promise.all(ids.map((each) => contents.replaced(each, owner))); // at 10 to 111
    const found = async (at: number) => {
      now = at;
      return (await contents.leftOvers(5)).map(({ _id }) => _id);
    };
    expect(await found(111 + 5)).to.deep.equal(ids.slice(0, 100));
    await Promise.all(ids.slice(0, 99).map((each) => contents.remove(each)));
    expect(await found(111 + 4), "a millisecond before").to.deep.equal(ids.slice(99, 101));
    expect(await found(111 + 5)).to.deep.equal(ids.slice(99));
  });
});
