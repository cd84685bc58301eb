import type { CandidateKey } from "../../src/candidates/record.ts";
import { expect } from "chai";
import { dueQueue } from "../../src/reminders/due-queue.ts";

const SHARE = 100;

/** Candidates in the order of the index. Like the store, it returns the first ones of other accounts. */
function queueOf(due: CandidateKey[]) {
  let reads = 0;
  const store = {
    due(_now: string, limit: number, others: readonly string[]) {
      reads++;
      return Promise.resolve(due.filter(({ accountId }) => !others.includes(accountId)).slice(0, limit));
    },
  };
  const queue = dueQueue(store, SHARE);
  return {
    queue,
    next: () => queue.next("now"),
    /** Handles candidates, so that they are not due any more. */
    handle: (keys: readonly CandidateKey[]) => {
      for (const key of keys) {
        due.splice(due.indexOf(key), 1);
        queue.done(key, false);
      }
    },
    reads: () => reads,
  };
}

function candidates(accountId: string, count: number): CandidateKey[] {
  return Array.from({ length: count }, (_, n) => ({ accountId, id: `${accountId}.${n}` }));
}

const idsOf = (keys: readonly CandidateKey[]) => keys.map(({ id }) => id);

describe("The queue of candidates that are due", () => {
  it("is read in one round trip if nobody has a whole share", async () => {
    const due = Array.from({ length: 30 }, (_, n) => candidates(`${n}`, 3)).flat();
    const { next, reads } = queueOf(due);
    expect(await next()).to.have.length(90);
    expect(reads()).to.equal(1);
    expect(await next(), "none is taken twice").to.deep.equal([]);
    expect(await queueOf([]).next()).to.deep.equal([]);
  });

  it("takes of each account a share at most", async () => {
    const { next } = queueOf([...candidates("large", 150), ...candidates("a", 2), ...candidates("b", 1)]);
    expect(await next()).to.have.length(SHARE + 3);
  });

  it("finds others at once behind an account with thousands, which gets more when half of its share is handled", async () => {
    const { queue, next, handle } = queueOf([...candidates("large", 5_000), ...candidates("small", 1)]);
    const large = await next();
    expect(large).to.have.length(SHARE);
    expect(idsOf(await next())).to.deep.equal(["small.0"]);
    let isRoom = false;
    const room = queue.room().then(() => (isRoom = true));
    handle(large.splice(0, SHARE / 2 - 1));
    expect(await next()).to.deep.equal([]);
    expect(isRoom).to.equal(false);
    handle(large.splice(0, 1));
    await room;
    expect(idsOf(await next()))
      .to.include(`large.${SHARE}`)
      .and.to.have.length(SHARE / 2);
  });

  it("leaves no account out, however many have thousands at the same instant", async () => {
    const names = Array.from({ length: 60 }, (_, n) => `large${n}`);
    const { next } = queueOf([...names.flatMap((name) => candidates(name, 250)), ...candidates("small", 1)]);
    const served = new Set<string>();
    for (let batch = await next(); batch.length > 0; batch = await next())
      for (const { accountId } of batch) served.add(accountId);
    expect([...served].toSorted()).to.deep.equal([...names, "small"].toSorted());
  });

  it("finds others behind pages of candidates that are all taken", async () => {
    const waiting = Array.from({ length: 20 }, (_, n) => candidates(`${n}`, 40)).flat();
    const due = [...waiting];
    const { next } = queueOf(due);
    for (let taken = 0; taken < waiting.length;) taken += (await next()).length;
    due.push(...candidates("small", 1));
    expect(idsOf(await next())).to.deep.equal(["small.0"]);
  });

  it("leaves what a pass could do nothing about to the next pass", async () => {
    const due = candidates("a", 3);
    const { queue, next } = queueOf(due);
    for (const key of await next()) queue.done(key, true);
    expect([await next(), queue.size()]).to.deep.equal([[], 0]);
    expect(await queueOf(due).next()).to.have.length(3);
  });

  it("finds the others of an account behind a whole share that a pass could do nothing about", async () => {
    const { queue, next } = queueOf(candidates("a", SHARE + 1));
    for (const key of await next()) queue.done(key, true);
    expect(idsOf(await next())).to.deep.equal([`a.${SHARE}`]);
  });
});
