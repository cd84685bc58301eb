import { author } from "../support/records.ts";
import { expect } from "chai";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { renderCandidate } from "../../src/candidates/render.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { feedPosition } from "../../src/candidates/feed-clock.ts";

import { createIndexes } from "../../src/infra/indexes.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";
import { useDatabase } from "../support/use-service.ts";

const TIMEOUT_MS = 2_000;

describe("a write whose process is suspended for too long after the write took its place in the feed", function () {
  this.timeout(60_000);
  const mongo = useDatabase(TIMEOUT_MS);
  let store: CandidateStore;
  /** How long the next call of `now` blocks the process, after it has read the time. */
  let blockMs = 0;
  let resumedAt = 0;
  const clock = {
    now(): number {
      const time = Date.now();
      if (blockMs > 0) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
        blockMs = 0;
        resumedAt = Date.now();
      }
      return time;
    },
  };
  before(async () => {
    store = new CandidateStore(mongo, clock);
    await createIndexes(mongo.db, [store.reader]);
  });

  /**
   * Runs a write that blocks the process in between, and expects a reader to see it. The reader's cursor is as far ahead as it
   * can be when the process resumes: it has read everything older than the longest write.
   */
  async function expectSeen(write: () => Promise<CandidateRecord>): Promise<CandidateRecord> {
    blockMs = TIMEOUT_MS + 1_000;
    const written = await write();
    const { accountId, id } = written;
    const { rows } = await store.reader.feed({ accountId, after: feedPosition(resumedAt - TIMEOUT_MS), limit: 10 });
    expect(rows.map(({ json }) => JSON.parse(String(json)))).to.deep.equal([renderCandidate(written)]);
    expect(await store.reader.get(accountId, id)).to.deep.equal(written);
    return written;
  }

  it("takes a new place for a new candidate", async () => {
    await expectSeen(() => store.insert(candidateWithExpiry("acct_1", "2090-01-31"), author()));
  });

  it("takes a new place for a change, and applies the change only once", async () => {
    const { id } = await store.insert({ ...candidateWithExpiry("acct_2", "2090-01-31"), name: "Ann" }, author());
    const { name } = await expectSeen(() =>
      store.change(author("acct_2"), id, (record) => ({ ...record, name: `${record.name ?? ""}!` })),
    );
    expect(name).to.equal("Ann!");
  });
});
