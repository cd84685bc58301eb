import { expect } from "chai";
import { languageNamed, timeZoneNamed } from "../../src/schema/registered-names.ts";

describe("A name from a registry", () => {
  it("is a time zone in the letter case of its registry, and an alias stays one", () => {
    const zones = {
      "europe/berlin": "Europe/Berlin",
      "EUROPE/BERLIN": "Europe/Berlin",
      utc: "UTC",
      "asia/kolkata": "Asia/Kolkata",
      "asia/calcutta": "Asia/Calcutta",
      "america/port-au-prince": "America/Port-au-Prince",
      "etc/gmt+1": "Etc/GMT+1",
      "america/argentina/buenos_aires": "America/Argentina/Buenos_Aires",
    };
    for (const [text, name] of Object.entries(zones)) expect(timeZoneNamed(text), text).to.equal(name);
  });

  it("is no time zone if it is an offset, a time or unknown", () => {
    const others = ["+01:00", "-0100", "2026-01-01T00:00:00[Europe/Berlin]", "2026-01-01T00:00:00Z", "Z", ""];
    const unknown = ["Europe/Nowhere", " Europe/Berlin", "Europe/Berlin ", "Europe/Berlin[u-ca=iso8601]", "01:00"];
    for (const text of [...others, ...unknown]) expect(timeZoneNamed(text), text).to.equal(undefined);
  });

  it("is a language in its canonical form", () => {
    const tags = { "en-us": "en-US", iw: "he", "ZH-hant-tw": "zh-Hant-TW", de: "de" };
    for (const [text, name] of Object.entries(tags)) expect(languageNamed(text), text).to.equal(name);
    for (const text of ["", "english language", "e", "en_US", "123"])
      expect(languageNamed(text), text).to.equal(undefined);
  });

  it("has at most 100 characters", () => {
    const tag = (length: number) => `en-x${"-a".repeat((length - 4) / 2)}`;
    expect(languageNamed(tag(100))).to.equal(tag(100));
    expect(languageNamed(tag(102))).to.equal(undefined);
    expect(languageNamed(`eng-x${"-a".repeat(48)}`)).to.equal(undefined); // 101
  });
});
