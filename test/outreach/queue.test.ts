import { expect } from "chai";
import type { CandidateKey } from "../../src/candidates/reader.ts";
import { DueQueue } from "../../src/outreach/queue.ts";

const SHARE = 20;

/** Candidates in the order of the index. Like the store, it returns the first ones of other accounts. */
function queueOf(due: readonly CandidateKey[]) {
  let reads = 0;
  const queue = new DueQueue({
    due(_now, limit, others) {
      reads++;
      return Promise.resolve(due.filter(({ accountId }) => !others.includes(accountId)).slice(0, limit));
    },
  });
  return { next: () => queue.next("now"), reads: () => reads };
}

function candidates(accountId: string, count: number): CandidateKey[] {
  return Array.from({ length: count }, (_, n) => ({ accountId, id: `${accountId}.${n}` }));
}

describe("The queue of candidates that are due", () => {
  it("is read in one round trip if nobody has a whole share", async () => {
    const due = Array.from({ length: 30 }, (_, n) => candidates(`${n}`, 3)).flat();
    const { next, reads } = queueOf(due);
    expect(await next()).to.have.length(90);
    expect(reads()).to.equal(1);
    expect(await queueOf([]).next()).to.deep.equal([]);
  });

  it("takes the accounts in turn, and of each a share at most", async () => {
    const { next } = queueOf([...candidates("large", 5_000), ...candidates("a", 2), ...candidates("b", 1)]);
    const batch = await next();
    expect(batch.slice(0, 5).map(({ id }) => id)).to.deep.equal(["large.0", "a.0", "b.0", "large.1", "a.1"]);
    expect(batch).to.have.length(SHARE + 3);
    expect(await next(), "it begins again").to.deep.equal(batch);
  });

  it("leaves no account out, however many have thousands at the same instant", async () => {
    const names = Array.from({ length: 30 }, (_, n) => `large${n}`);
    const { next } = queueOf([...names.flatMap((name) => candidates(name, 150)), ...candidates("small", 1)]);
    const served = new Map<string, number>();
    for (let batches = 0; !served.has("small"); batches++) {
      expect(batches, "batches").to.be.below(4);
      for (const { accountId } of await next()) served.set(accountId, (served.get(accountId) ?? 0) + 1);
    }
    expect([...served.keys()].toSorted()).to.deep.equal([...names, "small"].toSorted());
    for (const name of names) expect(served.get(name), name).to.be.at.most(SHARE);
  });

  it("begins again if only accounts are left that had their share", async () => {
    const due = Array.from({ length: 10 }, (_, n) => candidates(`${n}`, 200)).flat();
    const { next } = queueOf(due);
    for (let n = 0; n < 5; n++) expect(await next(), `batch ${n}`).not.to.have.length(0);
  });
});
