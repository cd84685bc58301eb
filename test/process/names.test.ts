import { hostname } from "node:os";
import { expect } from "chai";
import { looksLikeId } from "../../src/infra/ids.ts";
import { useOwnService } from "../support/use-service.ts";

describe("A process", () => {
  const service = useOwnService();

  it("marks its changes with its host, its number and an id that no other start of it has", async () => {
    const marks = await service.operators.mongo.db.collection<{ _id: string }>("feed_marks").find().toArray();
    const prefix = `${hostname()}-${process.pid}-`;
    const ids = marks.map(({ _id }) => _id).filter((id) => id.startsWith(prefix));
    expect(ids).to.have.length(1);
    expect(looksLikeId("req", ids[0]?.slice(prefix.length) ?? "")).to.equal(true);
  });
});
