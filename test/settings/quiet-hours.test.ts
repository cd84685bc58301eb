import { expect } from "chai";
import fc from "fast-check";
import { effectiveAt } from "../../src/settings/quiet-hours.ts";
import { QUIET_HOURS_DEFAULTS, type QuietHours, WEEKDAYS } from "../../src/settings/schema.ts";
import { WallClock } from "./model.ts";

const DAY = 24 * 60 * 60 * 1000;
const nightly: QuietHours = { ...QUIET_HOURS_DEFAULTS, enabled: true };

function at(moment: string, settings: Partial<QuietHours> = {}) {
  return effectiveAt({ ...nightly, ...settings }, Date.parse(moment));
}
const berlin = (start: string, end: string) => ({ timezone: "Europe/Berlin", start, end });

describe("quiet hours", () => {
  it("are none while they are not enabled", () => {
    expect(at("2026-06-01T23:00Z", { enabled: false })).to.deep.equal({
      quiet_now: false,
      next_start: null,
      next_end: null,
    });
  });

  it("start with their first minute and end with their last", () => {
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

  it("across midnight belong to the day on which they start", () => {
    const friday = { days: ["fri" as const] };
    expect(at("2026-06-06T07:00Z", friday)).to.deep.equal({
      quiet_now: true,
      next_start: "2026-06-12T21:00:00.000Z",
      next_end: "2026-06-06T08:00:00.000Z",
    });
    expect(at("2026-06-05T07:00Z", friday).quiet_now).to.equal(false);
  });

  it("with start and end the same are the whole day, and never end when they are every day", () => {
    const whole = { start: "09:00", end: "09:00" };
    expect(at("2026-06-06T08:59Z", { ...whole, days: ["fri"] }).next_end).to.equal("2026-06-06T09:00:00.000Z");
    expect(at("2026-06-06T12:00Z", whole)).to.deep.equal({ quiet_now: true, next_start: null, next_end: null });
    const allButMonday = at("2026-06-06T12:00Z", { ...whole, days: ["tue", "wed", "thu", "fri", "sat", "sun"] });
    expect(allButMonday).to.include({ next_end: "2026-06-08T09:00:00.000Z", next_start: "2026-06-09T09:00:00.000Z" });
  });

  describe("where the clock jumps from 02:00 to 03:00 (Berlin, 2026-03-29T01:00Z)", () => {
    const jump = "2026-03-29T01:00:00.000Z";
    it("start with the jump when they start inside", () => {
      expect(at("2026-03-29T00:00Z", berlin("02:30", "05:00"))).to.include({
        next_start: jump,
        next_end: "2026-03-29T03:00:00.000Z",
      });
    });
    it("end with the jump when they end inside", () => {
      expect(at("2026-03-29T00:00Z", berlin("21:00", "02:30"))).to.include({ quiet_now: true, next_end: jump });
    });
    it("do not take place when they are wholly inside", () => {
      expect(at("2026-03-29T00:00Z", berlin("02:10", "02:50")).next_start).to.equal("2026-03-30T00:10:00.000Z");
    });
  });

  describe("where 02:00 to 03:00 comes twice (Berlin, 2026-10-25T00:00Z and T01:00Z)", () => {
    it("start with the first of two and end with the second", () => {
      expect(at("2026-10-24T12:00Z", berlin("02:30", "05:00")).next_start).to.equal("2026-10-25T00:30:00.000Z");
      expect(at("2026-10-24T21:00Z", berlin("21:00", "02:30"))).to.include({
        quiet_now: true,
        next_end: "2026-10-25T01:30:00.000Z",
      });
    });
    it("end with the first of two when the clock is set back to just then", () => {
      expect(at("2026-10-24T21:00Z", berlin("21:00", "02:00"))).to.include({
        quiet_now: true,
        next_end: "2026-10-25T00:00:00.000Z",
      });
    });
    it("are one spell, not two, when they are wholly inside", () => {
      expect(at("2026-10-25T00:20Z", berlin("02:10", "02:50"))).to.include({
        quiet_now: true,
        next_end: "2026-10-25T01:50:00.000Z",
      });
    });
  });

  it("know jumps of half an hour (Lord Howe, 2026-10-03T15:30Z)", () => {
    const settings = { timezone: "Australia/Lord_Howe", start: "02:15", end: "04:00" };
    expect(at("2026-10-03T12:00Z", settings)).to.include({
      next_start: "2026-10-03T15:30:00.000Z",
      next_end: "2026-10-03T17:00:00.000Z",
    });
  });

  it("go on through a day that was left out, which starts none itself (Apia, 2011-12-30)", () => {
    const apia = { timezone: "Pacific/Apia" };
    const nextMorning = "2011-12-30T18:00:00.000Z"; // 2011-12-31 08:00 there
    expect(at("2011-12-30T09:59Z", { ...apia, days: ["thu"] })).to.include({ quiet_now: true, next_end: nextMorning });
    expect(at("2011-12-30T09:59Z", { ...apia, days: ["fri"] })).to.include({
      quiet_now: false,
      next_start: "2012-01-06T07:00:00.000Z",
    });
  });

  /** Zones and moments at which their clocks were changed. */
  const CHANGES: [string, string][] = [
    ["Europe/Berlin", "2026-03-29T01:00Z"],
    ["Europe/Berlin", "2026-10-25T01:00Z"],
    ["America/New_York", "2026-03-08T07:00Z"],
    ["America/New_York", "2026-11-01T06:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
    ["Pacific/Chatham", "2026-09-26T14:00Z"],
    ["America/Sao_Paulo", "2018-11-04T03:00Z"], // midnight is jumped over
    ["America/Sao_Paulo", "2018-02-18T02:00Z"], // midnight comes twice
    ["Antarctica/Troll", "2026-03-29T01:00Z"], // two hours
    ["Pacific/Apia", "2011-12-30T10:00Z"], // a whole day
    ["Asia/Kathmandu", "2026-03-29T01:00Z"], // none, at +05:45
  ];
  const clockTime = (minute: number) =>
    `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
  // Half of the times near the usual hours of change.
  const time = fc.oneof(fc.nat(24 * 60 - 1), fc.integer({ min: 0, max: 200 })).map(clockTime);

  for (const [timezone, change] of CHANGES) {
    it(`are what a clock on the wall says, around ${change} in ${timezone}`, () => {
      const moment = Date.parse(change);
      const wall = new WallClock(timezone, moment - 5 * DAY, 22);
      const runs = fc.record({
        start: time,
        end: time,
        days: fc.subarray([...WEEKDAYS], { minLength: 1 }),
        // Seconds and milliseconds too; windows that began before the model's first day are over by then.
        now: fc.integer({ min: moment - 2 * DAY, max: moment + 2 * DAY }),
      });
      fc.assert(
        fc.property(runs, ({ now, ...window }) => {
          const quiet = wall.quiet(window);
          const minute = wall.minuteOf(now);
          const { quiet_now, next_start, next_end } = effectiveAt({ ...nightly, timezone, ...window }, now);
          expect(quiet_now).to.equal(quiet[minute]);
          // The last two days in sight are not the model's to judge: windows end beyond them.
          const judged = quiet.slice(0, -2 * 24 * 60);
          expect(next_start ?? undefined).to.equal(wall.next(judged, minute, true));
          expect(next_end ?? undefined).to.equal(wall.next(judged, minute, false));
        }),
        { numRuns: 150 },
      );
    });
  }
});
