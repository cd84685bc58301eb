import { expect } from "chai";
import {
  ago,
  bytes,
  countdown,
  nameOf,
  timeInWords,
  visible,
  visibleLines,
} from "../../../src/site/browser/console/text.ts";
import { addressOf, pageOf } from "../../../src/site/browser/console/page.ts";

describe("the console's texts", () => {
  const nobody = { id: "cand_1", external_id: null, name: null, first_name: null, last_name: null };

  it("show control characters, and keep the lines of a text of several lines", () => {
    expect(visible("A\nB\u0000\u007f\u0085")).to.equal("A␊B␀␡�");
    expect(visibleLines("A\r\nB\tC\u0007")).to.equal("A\nB\tC␇");
  });

  it("show nothing that turns text around or is not seen", () => {
    expect([visible("a\u202eb\u200bc"), visibleLines("a\u202e\nb\u2066")]).to.deep.equal(["abc", "a\nb"]);
  });

  it("call a candidate by something that is seen", () => {
    expect(nameOf({ ...nobody, name: "Ada" })).to.equal("Ada");
    expect(nameOf({ ...nobody, first_name: "Ada", last_name: "L" })).to.equal("Ada L");
    expect(nameOf({ ...nobody, name: "\u200b\u202e ", external_id: "7" })).to.equal("7");
    expect(nameOf(nobody)).to.equal("cand_1");
  });

  it("say times and sizes briefly", () => {
    expect([0, 59_001, 3_600_000].map(countdown)).to.deep.equal(["00:00", "01:00", "1:00:00"]);
    expect([1000, 61_000, 3_600_000, 86_400_000].map(timeInWords)).to.deep.equal([
      "1 second",
      "61 seconds",
      "60 minutes",
      "24 hours",
    ]);
    expect([0, 5_000, 180_000, 7_200_000, 172_800_000].map(ago)).to.deep.equal([
      "just now",
      "5 sec. ago",
      "3 min. ago",
      "2 hr. ago",
      "2 days ago",
    ]);
    expect([12, 1234, 45_678, 26_214_400].map(bytes)).to.deep.equal(["12 bytes", "1.2 kB", "46 kB", "26.2 MB"]);
  });

  it("read every page back from its address, and take any other address for the limits", () => {
    for (const page of [
      { kind: "limits" },
      { kind: "candidates" },
      { kind: "webhooks" },
      { kind: "candidate", id: "a/b%<" },
    ] as const)
      expect(pageOf(addressOf(page))).to.deep.equal(page);
    expect(["", "#", "#/nowhere"].map((address) => pageOf(address).kind)).to.deep.equal(["limits", "limits", "limits"]);
    expect(pageOf("#/candidates/%E0%A4")).to.deep.equal({ kind: "candidate", id: "%E0%A4" });
  });
});
