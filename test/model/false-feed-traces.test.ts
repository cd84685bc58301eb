import { author } from "../support/records.ts";
import { advance, type Cursor, encodeCursor } from "../../src/candidates/feed.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { CheckpointStore } from "../../src/candidates/checkpoints.ts";
import { expect } from "chai";
import { createIndexes } from "../../src/infra/indexes.ts";
import { connectMongo } from "../../src/infra/mongo.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";
import { primaryOf } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import type { FeedEvent, FeedTrace, PageEvent, WriteEvent } from "./feed-events.ts";
import { startFeedRecorder } from "./feed-recorder.ts";
import { checkFeedTraces } from "./feed-trace.ts";

const ACCOUNT = "acct_1";
const LAG_MS = 7_000;
const TIMEOUT_MS = 5_000;
/** The first writes are so old that cursors may pass them. */
const OLD_MS = 20_000;

describe("a trace of the feed that was made false is refused:", function () {
  this.timeout(120_000);
  let trace: FeedTrace;
  let writes: number[];
  let pages: number[];
  before(async () => {
    trace = { constants: { lagMs: LAG_MS }, events: [...(await record()), { type: "end", passed: false }] };
    const placesOf = (type: FeedEvent["type"]) =>
      trace.events.flatMap((event, place) => (event.type === type ? [place] : []));
    writes = placesOf("write");
    pages = placesOf("page");
  });

  /** Records the real store: three old inserts, a change, an erasure, two sweeps in pages of two rows, and a new insert. */
  async function record(): Promise<readonly FeedEvent[]> {
    const url = testConfig().MONGODB_URL ?? "";
    const primary = await primaryOf(url);
    const recorder = await startFeedRecorder(primary.port, primary.host);
    const through = primary.through(`127.0.0.1:${recorder.port}`, new URL(url).pathname.slice(1));
    const mongo = await connectMongo({ url: through, timeoutMs: TIMEOUT_MS });
    let ageMs = OLD_MS;
    const store = new CandidateStore(mongo, { now: () => Date.now() - ageMs });
    await createIndexes(mongo.db, [store.reader]);
    const marks = new CheckpointStore(mongo);
    const insert = () => store.insert(candidateWithExpiry(ACCOUNT, "2090-01-31"), author());
    let cursor: Cursor = { after: "", safe: "" };
    const sweep = async (completeUntil: number): Promise<void> => {
      for (let more = true; more;) {
        const page = await store.reader.feed({ accountId: ACCOUNT, after: cursor.after, limit: 2 });
        const next = advance(cursor, page, completeUntil);
        recorder.read(ACCOUNT, cursor.safe === "" && cursor.after === "" ? "" : encodeCursor(cursor), {
          data: page.rows.map(({ change, version }) => ({ id: change.slice(16), version })),
          has_more: page.more,
          cursor: encodeCursor(next),
        });
        cursor = next;
        ({ more } = page);
      }
    };
    const [first, second] = [await insert(), await insert(), await insert()];
    const round = async (number: number): Promise<void> => {
      await marks.put({ _id: "one", complete_until: Date.now() - ageMs, round: number });
      await marks.all();
    };
    await round(1);
    await store.change(author(ACCOUNT), first.id, (record) => ({ ...record, name: "Ann" }));
    await sweep(0);
    await store.erase(ACCOUNT, second.id, "key_1", () => undefined);
    ageMs = 0;
    await insert();
    await round(2);
    await sweep(Date.now() - LAG_MS);
    const events = recorder.events(ACCOUNT);
    await mongo.db.dropDatabase();
    await mongo.close();
    recorder.close();
    return events;
  }

  /** Returns the trace with another event at this place. */
  const changed = <Event extends FeedEvent>(place: number, change: (event: Event) => Partial<Event>): FeedTrace => {
    const event = trace.events[place] as Event;
    return { ...trace, events: trace.events.with(place, { ...event, ...change(event) }) };
  };
  const without = (place: number): FeedTrace => ({ ...trace, events: trace.events.toSpliced(place, 1) });
  const moved = (change: string, ms: number) =>
    `${String(Number(change.slice(0, 15)) + ms).padStart(15, "0")}${change.slice(15)}`;
  /** Changes the cursor that the reader got with the page at this place of the trace. */
  const answering = (place: number, to: Partial<Cursor>): FeedTrace =>
    changed<PageEvent>(place, ({ read }) => ({ read: { ...read!, to: { ...read!.to, ...to } } }));

  it("each of these, and only they", async () => {
    expect(writes, "writes").to.have.length(6);
    expect(pages, "pages").to.have.length(4);
    const [, , , change = 0, erasure = 0, late = 0] = writes;
    const [firstPage = 0, secondPage = 0, , lastPage = 0] = pages;
    const lastRow = (trace.events[lastPage] as PageEvent).rows.at(-1)!.change;
    const marksFrom = (change: string): FeedEvent => {
      const now = Number(change.slice(0, 15)) + 1_000;
      return { type: "marks", now, until: [now] };
    };
    const rowOf = (place: number) => (trace.events[place] as WriteEvent).row;
    const cases: Record<string, { trace: FeedTrace; at: number }> = {
      "one row left out of a page": {
        trace: changed<PageEvent>(firstPage, ({ rows }) => ({ rows: rows.slice(1) })),
        at: firstPage,
      },
      "a page in another order": {
        trace: changed<PageEvent>(firstPage, ({ rows }) => ({ rows: rows.toReversed() })),
        at: firstPage,
      },
      "a row that the API leaves out": {
        trace: changed<PageEvent>(secondPage, ({ read }) => ({ read: { ...read!, rows: read!.rows.slice(1) } })),
        at: secondPage,
      },
      "an old version from the API": {
        trace: changed<PageEvent>(secondPage, ({ read }) => ({
          read: { ...read!, rows: read!.rows.map((row) => ({ ...row, version: row.version + 1 })) },
        })),
        at: secondPage,
      },
      "a last page from the API where there are more": {
        trace: changed<PageEvent>(firstPage, ({ read }) => ({ read: { ...read!, more: false } })),
        at: firstPage,
      },
      "a write that the reader never gets": {
        trace: { ...trace, events: trace.events.filter((event) => event.type !== "page") },
        at: trace.events.length - pages.length - 1,
      },
      "a cursor that does not move": {
        trace: { ...trace, events: trace.events.with(trace.events.length - 1, { type: "end", passed: true }) },
        at: trace.events.length - 1,
      },
      "a write before the time that a round has found": {
        trace: { ...trace, events: trace.events.toSpliced(late, 0, marksFrom(rowOf(late).change)) },
        at: late + 1,
      },
      "a page with an old version": {
        trace: changed<PageEvent>(secondPage, ({ rows }) => ({ rows: rows.map((row) => ({ ...row, version: 1 })) })),
        at: secondPage,
      },
      "a page that says it is the last one": {
        trace: changed<PageEvent>(firstPage, () => ({ more: false })),
        at: firstPage,
      },
      "a cursor beyond what is complete": {
        trace: answering(lastPage, { after: lastRow, safe: lastRow }),
        at: lastPage,
      },
      "a safe place that moves between two pages": {
        trace: answering(secondPage, { after: rowOf(change).change, safe: rowOf(change).change }),
        at: secondPage,
      },
      "a change of a version that is not the last one": {
        trace: changed<WriteEvent>(change, () => ({ before: 2 })),
        at: change,
      },
      "a change that names no version": { trace: changed<WriteEvent>(change, () => ({ before: -1 })), at: change },
      "a change whose place is before that of the version it replaces": {
        trace: changed<WriteEvent>(change, ({ row }) => ({ row: { ...row, change: moved(row.change, -10_000) } })),
        at: change,
      },
      "a tombstone with the version of what it replaces": {
        trace: changed<WriteEvent>(erasure, ({ row }) => ({ row: { ...row, version: row.version - 1 } })),
        at: erasure,
      },
      "a write left out": { trace: without(change), at: firstPage - 1 },
      "a write that lands where nothing may appear any more": {
        trace: {
          ...trace,
          events: trace.events.toSpliced(-1, 0, {
            ...(trace.events[late] as WriteEvent),
            row: {
              ...rowOf(late),
              version: 1,
              change: `${rowOf(change).change.slice(0, 15)}.cand_00000000000000000000000000`,
            },
          }),
        },
        at: trace.events.length - 1,
      },
    };
    const results = await checkFeedTraces([trace, ...Object.values(cases).map((each) => each.trace)]);
    const names = ["the true trace", ...Object.keys(cases)];
    const expected = {
      "the true trace": 0,
      ...Object.fromEntries(Object.entries(cases).map(([name, { at }]) => [name, at + 1])),
    };
    expect(Object.fromEntries(results.map((event, n) => [names[n], event]))).to.deep.equal(expected);
  });
});
