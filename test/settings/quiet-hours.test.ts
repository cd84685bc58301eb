import { expect } from "chai";
import fc from "fast-check";
import { effectiveAt, quietUntil } from "../../src/settings/quiet-hours.ts";
import { QUIET_HOURS_DEFAULTS, type QuietHours, WEEKDAYS } from "../../src/settings/schema.ts";
import { WallClock } from "./model.ts";

const DAY = 24 * 60 * 60 * 1000;
const nightly: QuietHours = { ...QUIET_HOURS_DEFAULTS, enabled: true };

function at(moment: string, settings: Partial<QuietHours> = {}) {
  return effectiveAt({ ...nightly, ...settings }, Date.parse(moment));
}
const berlin = (start: string, end: string) => ({ timezone: "Europe/Berlin", start, end });

describe("quiet hours", () => {
  it("never apply while they are disabled", () => {
    expect(at("2026-06-01T23:00Z", { enabled: false })).to.deep.equal({
      quiet_now: false,
      next_start: null,
      next_end: null,
    });
  });

  it("never end in a time zone that this runtime does not know, however often it is asked", () => {
    const settings = { ...nightly, timezone: "Mars/Olympus" };
    const noon = Date.parse("2026-06-01T12:00Z");
    for (const now of [noon, noon, noon + DAY]) {
      expect(quietUntil(settings, now)).to.equal(Infinity);
      expect(effectiveAt(settings, now)).to.deep.equal({ quiet_now: true, next_start: null, next_end: null });
    }
  });

  it("that cannot be computed fail each time, and are never taken for none", () => {
    const settings = { ...nightly, start: "24:61" }; // not by this version
    for (const time of ["first", "second"]) expect(() => quietUntil(settings, 0), time).to.throw(RangeError);
  });

  it("include the minute of start and exclude the minute of end", () => {
    const day = { start: "12:00", end: "13:00" };
    expect(at("2026-06-01T11:59:59.999Z", day)).to.deep.equal({
      quiet_now: false,
      next_start: "2026-06-01T12:00:00.000Z",
      next_end: "2026-06-01T13:00:00.000Z",
    });
    expect(at("2026-06-01T12:00:00.000Z", day).quiet_now).to.equal(true);
    expect(at("2026-06-01T12:59:59.999Z", day)).to.deep.equal({
      quiet_now: true,
      next_start: "2026-06-02T12:00:00.000Z",
      next_end: "2026-06-01T13:00:00.000Z",
    });
    expect(at("2026-06-01T13:00:00.000Z", day).quiet_now).to.equal(false);
  });

  it("that cross midnight belong to the day on which they start", () => {
    const friday = { days: ["fri" as const] };
    expect(at("2026-06-06T07:00Z", friday)).to.deep.equal({
      quiet_now: true,
      next_start: "2026-06-12T21:00:00.000Z",
      next_end: "2026-06-06T08:00:00.000Z",
    });
    expect(at("2026-06-05T07:00Z", friday).quiet_now).to.equal(false);
  });

  it("last until the same time on the next day if start equals end, and never end if they apply on every day", () => {
    const whole = { start: "09:00", end: "09:00" };
    expect(at("2026-06-06T08:59Z", { ...whole, days: ["fri"] }).next_end).to.equal("2026-06-06T09:00:00.000Z");
    expect(at("2026-06-06T12:00Z", whole)).to.deep.equal({ quiet_now: true, next_start: null, next_end: null });
    const allButMonday = at("2026-06-06T12:00Z", { ...whole, days: ["tue", "wed", "thu", "fri", "sat", "sun"] });
    expect(allButMonday).to.include({ next_end: "2026-06-08T09:00:00.000Z", next_start: "2026-06-09T09:00:00.000Z" });
  });

  describe("if the clock jumps from 02:00 to 03:00 (Berlin, 2026-03-29T01:00Z)", () => {
    const jump = "2026-03-29T01:00:00.000Z";
    it("start at the jump if start is in the skipped hour", () => {
      expect(at("2026-03-29T00:00Z", berlin("02:30", "05:00"))).to.include({
        next_start: jump,
        next_end: "2026-03-29T03:00:00.000Z",
      });
    });
    it("end at the jump if end is in the skipped hour", () => {
      expect(at("2026-03-29T00:00Z", berlin("21:00", "02:30"))).to.include({ quiet_now: true, next_end: jump });
    });
    it("are skipped if both are in the skipped hour", () => {
      expect(at("2026-03-29T00:00Z", berlin("02:10", "02:50")).next_start).to.equal("2026-03-30T00:10:00.000Z");
    });
  });

  describe("if the hour from 02:00 to 03:00 occurs twice (Berlin, 2026-10-25T00:00Z and T01:00Z)", () => {
    it("start at the first occurrence of start and end at the second occurrence of end", () => {
      expect(at("2026-10-24T12:00Z", berlin("02:30", "05:00")).next_start).to.equal("2026-10-25T00:30:00.000Z");
      expect(at("2026-10-24T21:00Z", berlin("21:00", "02:30"))).to.include({
        quiet_now: true,
        next_end: "2026-10-25T01:30:00.000Z",
      });
    });
    it("end when the clock is set back to exactly end", () => {
      expect(at("2026-10-24T21:00Z", berlin("21:00", "02:00"))).to.include({
        quiet_now: true,
        next_end: "2026-10-25T00:00:00.000Z",
      });
    });
    it("are one continuous period if both start and end are in the repeated hour", () => {
      expect(at("2026-10-25T00:20Z", berlin("02:10", "02:50"))).to.include({
        quiet_now: true,
        next_end: "2026-10-25T01:50:00.000Z",
      });
    });
  });

  it("handle a jump of half an hour (Lord Howe, 2026-10-03T15:30Z)", () => {
    const settings = { timezone: "Australia/Lord_Howe", start: "02:15", end: "04:00" };
    expect(at("2026-10-03T12:00Z", settings)).to.include({
      next_start: "2026-10-03T15:30:00.000Z",
      next_end: "2026-10-03T17:00:00.000Z",
    });
  });

  it("continue across a skipped day, and none start on that day (Apia, 2011-12-30)", () => {
    const apia = { timezone: "Pacific/Apia" };
    const nextMorning = "2011-12-30T18:00:00.000Z"; // 2011-12-31 08:00 there
    expect(at("2011-12-30T09:59Z", { ...apia, days: ["thu"] })).to.include({ quiet_now: true, next_end: nextMorning });
    expect(at("2011-12-30T09:59Z", { ...apia, days: ["fri"] })).to.include({
      quiet_now: false,
      next_start: "2012-01-06T07:00:00.000Z",
    });
  });

  /** Time zones with a moment at which their clock changes. */
  const CHANGES: [string, string][] = [
    ["Europe/Berlin", "2026-03-29T01:00Z"],
    ["Europe/Berlin", "2026-10-25T01:00Z"],
    ["America/New_York", "2026-03-08T07:00Z"],
    ["America/New_York", "2026-11-01T06:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
    ["Pacific/Chatham", "2026-09-26T14:00Z"],
    ["America/Sao_Paulo", "2018-11-04T03:00Z"], // skips midnight
    ["America/Sao_Paulo", "2018-02-18T02:00Z"], // repeats midnight
    ["Antarctica/Troll", "2026-03-29T01:00Z"], // skips two hours
    ["Pacific/Apia", "2011-12-30T10:00Z"], // skips a whole day
    ["Asia/Kathmandu", "2026-03-29T01:00Z"], // no change, at +05:45
  ];
  const clockTime = (minute: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
  // Half of the times are near the usual hours of clock changes.
  const time = fc.oneof(fc.nat(24 * 60 - 1), fc.integer({ min: 0, max: 200 })).map(clockTime);

  for (const [timezone, change] of CHANGES) {
    it(`agree with a wall clock around ${change} in ${timezone}`, () => {
      const moment = Date.parse(change);
      const wall = new WallClock(timezone, moment - 5 * DAY, 22);
      const runs = fc.record({
        start: time,
        end: time,
        days: fc.subarray([...WEEKDAYS], { minLength: 1 }),
        // Any millisecond. It is late enough that windows from before the model's first day are over.
        now: fc.integer({ min: moment - 2 * DAY, max: moment + 2 * DAY }),
      });
      fc.assert(
        fc.property(runs, ({ now, ...window }) => {
          const quiet = wall.quiet(window);
          const minute = wall.minuteOf(now);
          const { quiet_now, next_start, next_end } = effectiveAt({ ...nightly, timezone, ...window }, now);
          expect(quiet_now).to.equal(quiet[minute]);
          // Ignore the last two days of the model, because their windows may end beyond it.
          const complete = quiet.slice(0, -2 * 24 * 60);
          expect(next_start ?? undefined).to.equal(wall.next(complete, minute, true));
          expect(next_end ?? undefined).to.equal(wall.next(complete, minute, false));
        }),
        { numRuns: 50 },
      );
    });
  }

  describe("end for the chase when they end for the API", () => {
    const spans = [
      { start: "21:00", end: "08:00" },
      { start: "02:30", end: "02:30" },
    ];
    const sets: QuietHours["days"][] = [["sat"], ["sun"], [...WEEKDAYS]];
    for (const timezone of ["Europe/Berlin", "America/New_York"])
      for (const span of spans)
        for (const days of sets)
          it(`in ${timezone}, from ${span.start} to ${span.end}, on ${days.join(", ")}`, () => {
            const settings: QuietHours = { enabled: true, timezone, ...span, days };
            const saturday = Date.parse("2026-10-24T00:00Z"); // Berlin sets its clocks back on the next day
            const forwards = Array.from({ length: 3 * 48 }, (_, halfHours) => {
              const now = saturday + (halfHours * DAY) / 48;
              const { quiet_now, next_end } = effectiveAt(settings, now);
              return { now, until: quiet_now ? Date.parse(next_end ?? "") || Infinity : undefined };
            });
            for (const { now, until } of [...forwards.toReversed(), ...forwards])
              expect(quietUntil(settings, now), new Date(now).toISOString()).to.equal(until);
          });
  });
});
