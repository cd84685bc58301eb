import { expect } from "chai";
import fc from "fast-check";
import { advance, type Cursor, decodeCursor, encodeCursor, type FeedPage } from "../../src/candidates/feed.ts";
import { feedPosition } from "../../src/candidates/feed-clock.ts";

/** A write gets its feed position when it begins, and becomes visible when it ends, at most LAG later. */
interface Write {
  begins: number;
  takes: number;
}

const LAG = 50;
const START: Cursor = { after: "", safe: "" };
const writes = fc.array(
  fc.record({ begins: fc.integer({ min: 1, max: 120 }), takes: fc.integer({ min: 0, max: LAG }) }),
  { maxLength: 40 },
);
const readings = fc.array(fc.record({ wait: fc.integer({ min: 0, max: 40 }), limit: fc.integer({ min: 1, max: 4 }) }), {
  maxLength: 60,
});

/**
 * Reads page after page during the writes. When all writes have ended, it reads to the end of the feed twice. The first time,
 * slow writes may be behind the cursor; at the end the cursor steps back, so that the second time finds them.
 * @returns the positions that it saw.
 */
function follow(all: Write[], plan: { wait: number; limit: number }[], lag: number): Set<string> {
  const placed = all.map((write, n) => ({
    ...write,
    change: `${feedPosition(write.begins)}.cand_${String(n).padStart(26, "0")}`,
  }));
  const seen = new Set<string>();
  let cursor = START;
  let now = 0;
  const read = (limit: number): boolean => {
    const visible = placed
      .filter(({ begins, takes, change }) => begins + takes <= now && change > cursor.after)
      .map(({ change }) => change)
      .toSorted();
    const rows = visible.slice(0, limit).map((change) => ({ change }) as FeedPage["rows"][number]);
    for (const { change } of rows) seen.add(change);
    const more = visible.length > limit;
    cursor = decodeCursor(encodeCursor(advance(cursor, { rows, more }, now - lag)));
    return more;
  };
  for (const { wait, limit } of plan) {
    now += wait;
    read(limit);
  }
  now += 1000;
  while (read(3));
  while (read(3));
  return seen;
}

describe("the change feed's cursor", () => {
  it("misses no change, however slow writes and pages interleave", () => {
    fc.assert(
      fc.property(writes, readings, (all, plan) => {
        expect(follow(all, plan, LAG).size).to.equal(all.length);
      }),
      { numRuns: 2000 },
    );
  });

  it("misses no change that appears behind more rows than a page holds", () => {
    const slow = { begins: 4, takes: LAG };
    const all = [1, 2, 3, 5, 6, 7].map((begins) => ({ begins, takes: 0 })).concat(slow);
    expect(follow(all, [{ wait: 20, limit: 4 }], LAG).size).to.equal(all.length);
  });

  it("misses a change if it does not stay LAG behind the clock", () => {
    const late = [
      { begins: 10, takes: 40 },
      { begins: 20, takes: 0 },
    ];
    expect(follow(late, [{ wait: 30, limit: 4 }], 0).size).to.equal(1);
    expect(follow(late, [{ wait: 30, limit: 4 }], LAG).size).to.equal(2);
  });

  it("continues after the last row while there is more, and steps back at the end to what is complete", () => {
    const row = (n: number) => ({ change: `${feedPosition(n)}.cand_${"0".repeat(26)}` }) as FeedPage["rows"][number];
    const first = advance(START, { rows: [row(990)], more: true }, 1000 - LAG);
    expect(first.after).to.equal(row(990).change);
    const last = advance(first, { rows: [row(995)], more: false }, 1000 - LAG);
    expect(last.after < row(990).change).to.equal(true);
  });

  it("stays the same while nothing changes", () => {
    const cursor = { after: feedPosition(5), safe: feedPosition(5) };
    expect(advance(cursor, { rows: [], more: false }, 1000 - LAG)).to.deep.equal(cursor);
  });

  it("does not step back behind what was complete before, if a replica with an earlier clock reads", () => {
    const cursor = { after: feedPosition(900), safe: feedPosition(900) };
    expect(advance(cursor, { rows: [], more: false }, 500)).to.deep.equal(cursor);
  });
});
