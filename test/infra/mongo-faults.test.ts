import { expect } from "chai";
import { MongoNetworkError, MongoServerError } from "mongodb";
import { Problem } from "../../src/problems.ts";
import { useDatabase } from "../support/use-service.ts";

describe("an operation of the store that fails", () => {
  const mongo = useDatabase();
  async function failureOf(error: Error): Promise<unknown> {
    const failing = async () => {
      throw error;
    };
    try {
      return await mongo.bounded("find test", failing);
    } catch (failure) {
      return failure;
    }
  }

  for (const [what, error] of [
    ["the connection was cut", new MongoNetworkError("connection closed")],
    ["the server refused it", new MongoServerError({ code: 13388, message: "stale" })],
    ["a socket broke", Object.assign(new Error("write EPIPE"), { code: "EPIPE" })],
  ] as const) {
    it(`is store_unavailable, with the cause, if ${what}`, async () => {
      const failure = await failureOf(error);
      expect(failure).to.be.instanceOf(Problem).and.include({ code: "store_unavailable", status: 503 });
      expect((failure as Problem).extras).to.deep.include({ headers: { "Retry-After": "2" }, cause: error });
    });
  }

  it("keeps its own error if an index refused the write, or if the fault is ours", async () => {
    for (const error of [new MongoServerError({ code: 11000, message: "duplicate" }), new TypeError("x is undefined")])
      expect(await failureOf(error)).to.equal(error);
  });
});
