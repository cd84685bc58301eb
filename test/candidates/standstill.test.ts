import { expect } from "chai";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { feedPosition } from "../../src/candidates/stored.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";
import { useDatabase } from "../support/use-service.ts";

const TIMEOUT_MS = 2_000;

describe("a process that stands still after it has given a write its place in the feed", function () {
  this.timeout(30_000);
  const mongo = useDatabase(TIMEOUT_MS);
  let store: CandidateStore;
  /** How long it stands still with the next time that the clock tells. */
  let standsStillMs = 0;
  let wentOnAt = 0;
  const clock = {
    now(): number {
      const told = Date.now();
      if (standsStillMs > 0) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, standsStillMs);
        standsStillMs = 0;
        wentOnAt = Date.now();
      }
      return told;
    },
  };
  before(async () => {
    store = new CandidateStore(mongo, clock);
    await store.prepare();
  });

  /** Does a write with a standstill in it, and expects it where a reader finds it who has read all that a reader may when it goes on. */
  async function expectSeen(write: () => Promise<CandidateRecord>): Promise<CandidateRecord> {
    standsStillMs = TIMEOUT_MS + 1_000;
    const written = await write();
    const { accountId, id } = written;
    const { rows } = await store.feed({ accountId, after: feedPosition(wentOnAt - TIMEOUT_MS), limit: 10 });
    expect(rows.map(({ record }) => record)).to.deep.equal([written]);
    expect(await store.get(accountId, id)).to.deep.equal(written);
    return written;
  }

  it("gives a new candidate another place", async () => {
    await expectSeen(() => store.insert(candidateWithExpiry("acct_1", "2090-01-31")));
  });

  it("gives a change another place, and makes it once", async () => {
    const { id } = await store.insert({ ...candidateWithExpiry("acct_2", "2090-01-31"), name: "Ann" });
    const { name } = await expectSeen(() =>
      store.change("acct_2", id, (record) => ({ ...record, name: `${record.name ?? ""}!` })),
    );
    expect(name).to.equal("Ann!");
  });
});
