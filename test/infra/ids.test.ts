import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { fromUUIDBytes, TypeID } from "typeid-js";
import { looksLikeId, newTypeId, typeId } from "../../src/infra/ids.ts";

describe("identifiers", () => {
  it("are the TypeIDs that another implementation makes of the same bytes", () => {
    for (let round = 0; round < 1000; round++) {
      const bytes = randomBytes(16);
      const id = typeId("cand", round === 0 ? 2 ** 48 - 1 : round * 1_999_999_999, bytes);
      expect(id).to.equal(fromUUIDBytes("cand", bytes));
    }
  });

  it("are UUIDs of version 7 with the time, in the order in which they were made, and never the same twice", () => {
    const before = Date.now();
    const ids = Array.from({ length: 5000 }, () => newTypeId("req"));
    const after = Date.now();
    expect(new Set(ids).size).to.equal(5000);
    expect(ids.toSorted()).to.deep.equal(ids);
    for (const id of ids) {
      expect(looksLikeId("req", id), id).to.equal(true);
      const uuid = TypeID.fromString(id).toUUID();
      expect(uuid).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(parseInt(uuid.replaceAll("-", "").slice(0, 12), 16)).to.be.within(before, after);
    }
  });

  it("are told from texts that no identifier can be", () => {
    const id = "cand_01m7yrrt80f5zbdq4wk1gj9y7x";
    expect(looksLikeId("cand", id)).to.equal(true);
    for (const text of ["", "cand_", id.slice(0, -1), `${id}0`, id.replace("_0", "_00"), id.replace("_0", "_8")])
      expect(looksLikeId("cand", text), text).to.equal(false);
    expect(looksLikeId("doc", id), "another prefix").to.equal(false);
  });
});
