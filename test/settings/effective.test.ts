import { expect } from "chai";
import { ifMatch, viewTag } from "../../src/http/entity-tags.ts";
import { type SettingsService, settingsService } from "../../src/settings/service.ts";
import { SettingsStore } from "../../src/settings/store.ts";
import { useDatabase } from "../support/use-service.ts";

describe("the effective quiet hours", () => {
  const mongo = useDatabase();
  let settings: SettingsService;
  let now = Date.parse("2026-06-01T20:59:00Z");
  before(() => {
    const clock = { now: () => now };
    settings = settingsService({
      assistant: new SettingsStore(mongo, clock, "assistant_settings"),
      quietHours: new SettingsStore(mongo, clock, "quiet_hours_settings"),
      clock,
    });
  });

  const read = () => settings.readQuietHours("acct");
  const tag = async () => viewTag(await read(), ["effective"]);

  it("change the ETag only when they begin or end, and a write with an ETag from before that is still accepted", async () => {
    await settings.changeQuietHours("acct", { enabled: true }, () => undefined);
    expect((await read()).effective.quiet_now).to.equal(false);
    const before = await tag();
    now += 30_000;
    expect(await tag()).to.equal(before);
    now += 60_000;
    expect((await read()).effective).to.deep.equal({
      quiet_now: true,
      next_start: "2026-06-02T21:00:00.000Z",
      next_end: "2026-06-02T08:00:00.000Z",
    });
    expect(await tag()).not.to.equal(before);
    await settings.changeQuietHours("acct", { end: "07:00" }, ifMatch(before));
    const late = await settings
      .changeQuietHours("acct", { end: "06:00" }, ifMatch(before))
      .catch((error: unknown) => error);
    expect(late).to.include({ code: "version_mismatch" });
    expect((await read()).end).to.equal("07:00");
  });
});
