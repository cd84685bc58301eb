import { expect } from "chai";
import { BSON, Double, Long } from "mongodb";
import { valuesReader } from "../../src/infra/bson-values.ts";

const bytesOf = (document: object): Buffer => Buffer.from(BSON.serialize(document));

describe("the values of a document in BSON", () => {
  const read = valuesReader(["_id", "version", "deleted", "row", "row_form"]);

  it("are in the order of the names, whatever the order of the members", () => {
    const members = { row_form: 1, row: { json: "{}" }, deleted: true, version: 7, _id: "cand_1" };
    const expected = ["cand_1", 7, true, bytesOf({ json: "{}" }), 1];
    expect(read(bytesOf(members))).to.deep.equal(expected);
    expect(read(bytesOf(Object.fromEntries(Object.entries(members).toReversed())))).to.deep.equal(expected);
  });

  it("are undefined for members that are absent or null, and leave out what is not asked for", () => {
    const members = { account: "acct_1", note: null, count: 3, version: null, nested: { _id: "no" }, row_form: 2 };
    expect(read(bytesOf(members))).to.deep.equal([undefined, undefined, undefined, undefined, 2]);
    expect(read(bytesOf({}))).to.deep.equal([undefined, undefined, undefined, undefined, undefined]);
  });

  it("are numbers, however the server stores them", () => {
    const stored = [7, new Double(7), Long.fromNumber(7), 2 ** 40];
    expect(stored.map((version) => read(bytesOf({ version }))[1])).to.deep.equal([7, 7, 7, 2 ** 40]);
  });

  it("are not guessed: another type and a document that is cut off are errors", () => {
    expect(() => read(bytesOf({ version: /x/ }))).to.throw(TypeError, "type 11");
    expect(() => read(bytesOf({ version: 7, _id: "cand_1" }).subarray(0, 14))).to.throw();
  });
});
