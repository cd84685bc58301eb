import { expect } from "chai";
import { MongoNetworkError, MongoServerError } from "mongodb";
import { connectMongo } from "../../src/infra/mongo.ts";
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

describe("connecting to MongoDB", () => {
  it("fails with one line that names the address, without the password, if no server is there", async () => {
    const failed = await connectMongo({ url: "mongodb://ann:secret@127.0.0.1:1/pipeline", timeoutMs: 200 }).then(
      () => expect.fail("it connected"),
      (error: Error) => error,
    );
    expect(failed.message).to.equal(
      "MongoDB at mongodb://…@127.0.0.1:1/pipeline cannot be reached: connect ECONNREFUSED 127.0.0.1:1. Check MONGODB_URL.",
    );
  });
});
