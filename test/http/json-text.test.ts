import { expect } from "chai";
import { jsonText } from "../../src/http/response.ts";

const LAST = { last: { at: null, reason: "none" } };

describe("The tag of JSON with a last member that it does not cover", () => {
  for (const [size, filler] of [
    ["small", 1],
    ["large", 3_000],
    ["of several parts", 30_000],
  ] as const) {
    it(`is that of the rest: ${size}`, async () => {
      const rest = { name: `x","last":{`, list: Array.from({ length: filler }, (_, n) => `item ${n}`), inner: LAST };
      const [without, within] = [await jsonText(rest), await jsonText({ ...rest, ...LAST }, "last")];
      expect(within.tag).to.equal(without.tag);
      expect(JSON.parse(String(within.body))).to.deep.equal({ ...rest, ...LAST });
      expect((await jsonText({ ...rest, ...LAST })).tag, "without leaving it out").not.to.equal(without.tag);
      expect((await jsonText({ ...rest, version: 2, ...LAST }, "last")).tag).not.to.equal(without.tag);
    });
  }
});
