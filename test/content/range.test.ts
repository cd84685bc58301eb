import { expect } from "chai";
import { rangeOf } from "../../src/content/file.ts";

describe("A Range header", () => {
  const SELECTED: Record<string, [number, number]> = {
    "bytes=0-0": [0, 1],
    "bytes=0-8": [0, 9],
    "bytes=0-9": [0, 10],
    "bytes=0-10": [0, 10],
    "bytes=9-9": [9, 10],
    "bytes=9-": [9, 10],
    "bytes=0-": [0, 10],
    "bytes=3-3": [3, 4],
    "bytes=2-12": [2, 10],
    "bytes=-1": [9, 10],
    "bytes=-10": [0, 10],
    "bytes=-11": [0, 10],
    "bytes=-012": [0, 10],
    "Bytes= \t1-2\t ": [1, 3],
  };
  for (const [header, [start, end]] of Object.entries(SELECTED))
    it(`selects the bytes from ${start} to before ${end} of ten with ${JSON.stringify(header)}`, () => {
      expect(rangeOf(header, 10)).to.deep.equal({ start, end });
    });

  it("lies outside the content if it begins at its end or later, or asks for the last 0 bytes", () => {
    for (const header of ["bytes=10-", "bytes=10-10", "bytes=11-20", "bytes=-0", "bytes=-00"])
      expect(rangeOf(header, 10), header).to.equal("unsatisfiable");
    for (const header of ["bytes=0-", "bytes=0-0", "bytes=-1"])
      expect(rangeOf(header, 0), header).to.equal("unsatisfiable");
  });

  it("is ignored if it is absent, malformed, in another unit, or names several ranges", () => {
    const malformed = ["", "bytes=", "bytes=-", "bytes=1", "bytes=2-1", "bytes=11-10", "bytes=1-2-3", "bytes=--1"];
    const spaced = ["bytes =1-2", " bytes=1-2", "bytes=1 -2", "bytes=1- 2", "bytes=\n1-2", "bytes=1-2\n", "bytes==1-2"];
    const other = [
      "bytes=1-2,4-5",
      "lines=1-2",
      "kbytes=1-2",
      "bytes=a-b",
      "bytes=1-b",
      "bytes=a-2",
      "bytes=1-2x",
      "1-2",
    ];
    for (const header of [undefined, ...malformed, ...spaced, ...other])
      expect(rangeOf(header, 10), header).to.equal(undefined);
  });
});
