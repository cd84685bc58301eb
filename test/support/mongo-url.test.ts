import { expect } from "chai";
import { MongoClient } from "mongodb";
import { primaryOf, withDatabase, withOptions } from "./mongo-url.ts";

/** Tests of the helpers that let every suite run on any MONGODB_URL. */
describe("a test's MongoDB URL", () => {
  for (const [given, changed] of [
    ["mongodb://h", "mongodb://h/other"],
    ["mongodb://h:1/?retryWrites=true", "mongodb://h:1/other?retryWrites=true"],
    ["mongodb://h:1,i:2/mine?replicaSet=rs0", "mongodb://h:1,i:2/other?replicaSet=rs0"],
    ["mongodb://[::1]:1,i:2/mine", "mongodb://[::1]:1,i:2/other"],
    ["mongodb+srv://h.example/mine?w=majority", "mongodb+srv://h.example/other?w=majority"],
    ["mongodb://a:b%40c@h", "mongodb://a:b%40c@h/other?authSource=admin"],
    ["mongodb://a:b@h,i/mine?appName=x", "mongodb://a:b@h,i/other?appName=x&authSource=mine"],
    ["mongodb://a:b@h/mine?authSource=users", "mongodb://a:b@h/other?authSource=users"],
    ["mongodb://a@h/mine?authMechanism=MONGODB-X509", "mongodb://a@h/other?authMechanism=MONGODB-X509"],
  ] as const) {
    it(`gets another database and keeps its user: ${given}`, () => {
      expect(withDatabase(given, "other")).to.equal(changed);
    });
  }

  it("gets a further option, with several hosts too", () => {
    expect(withOptions("mongodb://h,i/mine?a=1", { monitorCommands: "true" })).to.equal(
      "mongodb://h,i/mine?a=1&monitorCommands=true",
    );
  });

  it("leads to the one server that takes the writes, through a proxy", async () => {
    const { host, port, through } = await primaryOf(process.env.MONGODB_URL ?? "");
    const url = through(`${host}:${port}`, "mine");
    const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000 });
    const hello = await client.db().command({ hello: 1 });
    await client.close();
    expect(hello["isWritablePrimary"]).to.equal(true);
    expect(client.options).to.include({ dbName: "mine", directConnection: true });
  });
});
