import { expect } from "chai";
import { findMongo } from "../../src/dev/mongo.ts";
import { dataDirOf, toolsIn } from "../../src/dev/data-dir.ts";
import { mongoName, nameIn, serverNames } from "../support/server-names.ts";
import { startMongo } from "../support/servers.ts";

/** Part of what a mongod 8.0.4 answers. */
const MONGOD = {
  version: "8.0.4",
  gitVersion: "bc35ab4305d9920d9d0491c1c9ef9b72383d31f9",
  modules: [],
  allocator: "tcmalloc-google",
  openssl: { running: "OpenSSL 3.0.2 15 Mar 2022", compiled: "OpenSSL 3.0.2 15 Mar 2022" },
};

describe("the name of a MongoDB server", () => {
  it("is true for the server that npm test starts: what calls itself MongoDB, but stands in for it, is not named so", async () => {
    const { name } = await findMongo(toolsIn(dataDirOf(process.env)), new AbortController().signal);
    const server = await startMongo();
    const said = await mongoName(server.url);
    await server.stop();
    if (name === "mongod") expect(said).to.match(/^MongoDB \d/);
    else expect(said).to.equal(`${name} over SQLite (stand-in for MongoDB)`);
  });

  it("is told beside that of Redis", async () => {
    const { REDIS_URL = "", MONGODB_URL = "" } = process.env;
    const names = await serverNames({ redisUrl: REDIS_URL, mongodbUrl: MONGODB_URL });
    expect(names).to.match(/^Redis \d+\.\d+\.\d+, /);
    expect(names.split(", ")[1]).to.equal(await mongoName(MONGODB_URL));
  });

  for (const [answer, name] of [
    [MONGOD, "MongoDB 8.0.4"],
    [{ ...MONGOD, psmdbVersion: "8.0.4-1" }, "Percona Server for MongoDB 8.0.4-1"],
    [{ ...MONGOD, version: "7.0.77", ferretdb: { version: "v2.7.0" } }, "FerretDB v2.7.0 (as MongoDB 7.0.77)"],
    [{ ...MONGOD, version: "7.0.42", ferretdbVersion: "v1.24.0" }, "FerretDB v1.24.0 (as MongoDB 7.0.42)"],
    [
      { version: "7.0.0", internal: { documentdb_versions: ["0.117-0", "0.117.0"] } },
      "DocumentDB 0.117-0 (as MongoDB 7.0.0)",
    ],
    [{ version: "5.0.0", bits: 64 }, "an unknown server (as MongoDB 5.0.0)"],
  ] as const) {
    it(`can be ${name}`, () => {
      expect(nameIn(answer)).to.equal(name);
    });
  }
});
