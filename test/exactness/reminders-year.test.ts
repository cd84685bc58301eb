import { withOutreach } from "../../src/candidates/edits.ts";
import { withPart } from "../../src/candidates/parts.ts";
import { newReference } from "../../src/candidates/references.ts";
import { availableParallelism } from "node:os";
import { expect } from "chai";
import pLimit from "p-limit";
import { newTypeId } from "../../src/infra/ids.ts";
import { connectMongo } from "../../src/infra/mongo.ts";
import { type QuietHours, WEEKDAYS } from "../../src/settings/schema.ts";
import { HOUR, iso } from "../reminders/support.ts";
import { Workbench } from "../reminders/workbench.ts";
import { WallClock } from "../settings/model.ts";
import { testConfig } from "../support/service.ts";
import { FULL } from "./size.ts";

const go = new AbortController().signal;
/** It is not a whole number of days, so each message is due at another hour. */
const INTERVAL = (FULL ? 23 : 143) * HOUR;
const MINUTE = 60_000;
const DAYS = 366;
const FROM = Date.parse("2026-01-15T00:00:00Z");
/** In the order of their offsets. Those with daylight-saving time change it on different days, one by half an hour. */
const ZONES = [
  "Pacific/Honolulu",
  "America/Los_Angeles",
  "America/New_York",
  "America/St_Johns",
  "America/Santiago",
  "Atlantic/Azores",
  "Europe/London",
  "Europe/Berlin",
  "Asia/Kathmandu",
  "Asia/Tokyo",
  "Australia/Lord_Howe",
  "Pacific/Auckland",
];
/** Over midnight; over the hours in which clocks change; on working days only. */
const QUIET = [
  { start: "21:00", end: "08:00", days: [...WEEKDAYS] },
  { start: "01:30", end: "02:30", days: [...WEEKDAYS] },
  { start: "17:45", end: "07:15", days: ["mon", "tue", "wed", "thu", "fri"] as (typeof WEEKDAYS)[number][] },
];
/** The small form has four zones: one never changes its clock, one is in the north, one in the south, and one moves by half an hour. */
const SMALL = ["Pacific/Honolulu", "America/New_York", "America/Santiago", "Australia/Lord_Howe"];
/** Each zone with its quiet hours. */
const QUIET_IN = ZONES.map((timezone, n) => [timezone, QUIET[n % QUIET.length]!] as const).filter(
  ([timezone]) => FULL || SMALL.includes(timezone),
);

/** References are added one after the other, so that messages go on all year although each has a cap of 100. */
const REFERENCES = 6;
const DAYS_OF_EACH = 61;
const DAY = 24 * HOUR;

interface Sent {
  readonly to: string;
  readonly at: number;
}

/** Moves the clock from one time at which there is something to do to the next, for a year. */
async function yearOf(bench: Workbench): Promise<Sent[]> {
  const sender = bench.sender();
  const sent: Sent[] = [];
  bench.deliver = ({ to }) => {
    sent.push({ to: to.address, at: bench.now });
    return { kind: "sent", code: "250" };
  };
  bench.now = FROM;
  const id = await bench.candidate({});
  await bench.change(id, (record, at) => withOutreach(record, { reference_chase_attempts: 100 }, at));
  for (let n = 0; n < REFERENCES; n++) {
    bench.now = Math.max(bench.now, FROM + n * DAYS_OF_EACH * DAY);
    const email = `ref_${n}@example.com`;
    await bench.change(id, (record, now) =>
      withPart(record, "references", newReference({ email }, { id: newTypeId("ref"), now, started: true })),
    );
    for (;;) {
      const { look_at } = (await bench.read(id)).outreach;
      if (look_at === null || Date.parse(look_at) >= FROM + (n + 1) * DAYS_OF_EACH * DAY) break;
      bench.now = Math.max(bench.now, Date.parse(look_at));
      await sender.run(go);
    }
  }
  return sent;
}

/** The reminders of a year, in a database of their own. */
async function sentIn(quietHours: Partial<QuietHours>): Promise<Sent[]> {
  const mongo = await connectMongo({ url: testConfig().MONGODB_URL ?? "", timeoutMs: 30_000 });
  try {
    const bench = new Workbench(mongo);
    await bench.prepare();
    bench.assistant = { chase_interval_hours: INTERVAL / HOUR };
    bench.quietHours = quietHours;
    return await yearOf(bench);
  } finally {
    await mongo.db.dropDatabase();
    await mongo.close();
  }
}

describe(`A year of reminders, in ${QUIET_IN.length} time zones`, function () {
  this.timeout(300_000);
  const years = new Map<string, Promise<Sent[]>>();
  // A simulated year sends its requests to MongoDB one after the other, so run one year for each core.
  before(() => {
    const limit = pLimit(availableParallelism());
    for (const [timezone, quiet] of QUIET_IN) {
      const year = limit(() => sentIn({ enabled: true, timezone, ...quiet }));
      year.catch(() => undefined); // its test reports it
      years.set(timezone, year);
    }
  });

  for (const [timezone, { start, end, days }] of QUIET_IN) {
    it(`sends nothing in a quiet hour and nothing late, in ${timezone}, quiet from ${start} to ${end}`, async () => {
      const sent = await years.get(timezone)!;
      const clock = new WallClock(timezone, FROM - 2 * 24 * HOUR, DAYS + 6);
      const quiet = clock.quiet({ start, end, days });
      const isQuiet = (at: number) => quiet[Math.floor((at - clock.from) / MINUTE)];
      const last = new Map<string, number>();
      let late = 0;
      for (const { to, at } of sent) {
        expect(isQuiet(at), iso(at)).to.equal(false);
        const before = last.get(to);
        last.set(to, at);
        if (before === undefined) continue;
        let due = before + INTERVAL;
        if (isQuiet(due)) late++;
        while (isQuiet(due)) due = Math.floor(due / MINUTE) * MINUTE + MINUTE;
        // The clock of the workbench advances by a millisecond with each look at it.
        expect(at - due, `due at ${iso(due)}, sent at ${iso(at)}`).to.be.within(0, 100);
      }
      expect(sent.length).to.be.above(FULL ? 300 : 45);
      expect(late, "some were put off").to.be.above(0);
    });
  }
});
