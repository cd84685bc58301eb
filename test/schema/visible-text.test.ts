import { expect } from "chai";
import { withSafeEnding } from "../../src/content/endings.ts";
import { shown, shownName, withoutInvisible } from "../../src/schema/visible-text.ts";

describe("Text that people see", () => {
  it("has nothing that hides or turns around what stands beside it", () => {
    expect(shown("Passport\u202Efdp.exe")).to.equal("Passportfdp.exe");
    expect(shown("a\u200Bb\u2066c\u2069d\uFEFFe\u00ADf")).to.equal("abcdef");
    expect(shownName(" two\r\nlines\t\u0000 ")).to.equal("two lines");
  });

  it("keeps what emoji, Persian and Hindi need", () => {
    for (const text of ["👩‍💻 ❤️", "می‌خواهم", "क्‍ष", "Zoë Łukasz 王", "葛\u{E0100}"])
      expect(shownName(text)).to.equal(text);
  });

  it("has no identifier with what nobody sees, but keeps what changes it, to be refused", () => {
    expect(withoutInvisible("\u202Aann@example.com\u202C")).to.equal("ann@example.com");
    expect(withoutInvisible("A1\u200B\u2060\uFEFF")).to.equal("A1");
    expect(withoutInvisible("a\u200Db\u202Ec")).to.equal("a\u200Db\u202Ec");
  });
});

describe("The name of a file from a stranger", () => {
  it("takes time in proportion to its length: a part of a form may have 80 KB of it", () => {
    for (const long of [".", " .", "a.", "\u202E", ".\u200D"]) withSafeEnding(`${long.repeat(200_000)}x`);
  });

  for (const [given, safe] of [
    ["passport.pdf", "passport.pdf"],
    ["Passport.JPEG", "Passport.JPEG"],
    ["passport", "passport"],
    ["Passport\u202Efdp.exe", "Passportfdp.exe.bin"],
    ["cv.pdf.lnk", "cv.pdf.lnk.bin"],
    ["run.sh", "run.sh.bin"],
    ["a.scr. . ", "a.scr.bin"],
    ["a.pdf\u200D", "a.pdf\u200D.bin"],
    ["all.zip", "all.zip.bin"],
    [".bashrc", ".bashrc.bin"],
    ["x.ｅｘｅ", "x.ｅｘｅ.bin"],
    ["CV 2.0", "CV 2.0"],
    ["Dr. Müller", "Dr. Müller"],
    ["cv.pdf (1)", "cv.pdf (1)"],
    ["x.exe:a", "x.exe-a.bin"],
    ["x.001x", "x.001x.bin"],
    ["\u202E...", null],
  ] as const)
    it(`${JSON.stringify(given)} is kept as ${JSON.stringify(safe)}`, () => {
      expect(withSafeEnding(given)).to.equal(safe);
    });
});
