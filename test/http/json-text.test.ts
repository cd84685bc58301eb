import { expect } from "chai";
import { jsonText } from "../../src/http/response.ts";

const LAST = { last: { at: null, reason: "none" } };

describe("The tag of JSON that it does not cover as a whole", () => {
  for (const [size, filler] of [
    ["small", 1],
    ["large", 3_000],
    ["of several parts", 30_000],
  ] as const) {
    it(`is that of what it covers: ${size}`, async () => {
      const rest = { name: "x", list: Array.from({ length: filler }, (_, n) => `item ${n}`), inner: LAST };
      const [without, within] = [await jsonText(rest), await jsonText({ ...rest, ...LAST }, rest)];
      expect(within.tag).to.equal(without.tag);
      expect(JSON.parse(String(within.body))).to.deep.equal({ ...rest, ...LAST });
      expect((await jsonText({ ...rest, ...LAST })).tag, "without leaving it out").not.to.equal(without.tag);
      expect((await jsonText({ ...rest, ...LAST }, { ...rest, version: 2 })).tag).not.to.equal(without.tag);
    });
  }
});
