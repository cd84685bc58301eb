import { expect } from "chai";
import { MongoClient } from "mongodb";
import { MongoMemoryReplSet } from "mongodb-memory-server-core";
import { findMongo } from "../../../src/dev/mongo.ts";
import { dataDirOf, toolsIn } from "../../../src/dev/data-dir.ts";
import { type Fleet, startFleet } from "../replicas/fleet.ts";
import { withDatabase } from "../../support/mongo-url.ts";
import { skip } from "../skip.ts";
import { survive } from "./survive.ts";

const STORE_TIMEOUT_MS = 2_000;
/** Enough for an election, and for the driver to notice the new primary. */
const STEPPED_DOWN_MS = 5_000;

/** A replica set of three real members: the one in MONGODB_URL, or one started from a local mongod. */
interface ReplicaSet {
  readonly url: string;
  stop(): Promise<unknown>;
}

async function findReplicaSet(): Promise<ReplicaSet | undefined> {
  const { MONGODB_URL = "" } = process.env;
  const client = await new MongoClient(MONGODB_URL).connect();
  try {
    const { setName, hosts = [] } = await client.db("admin").command({ hello: 1 });
    if (typeof setName === "string" && (hosts as string[]).length >= 3)
      return { url: MONGODB_URL, stop: () => Promise.resolve() };
  } finally {
    await client.close();
  }
  const { name, command } = await findMongo(toolsIn(dataDirOf(process.env)), new AbortController().signal);
  if (name !== "mongod") return undefined;
  const set = await MongoMemoryReplSet.create({
    binary: { systemBinary: command },
    replSet: { count: 3, storageEngine: "wiredTiger" },
  });
  return { url: set.getUri(), stop: () => set.stop() };
}

describe("a MongoDB replica set of three", function () {
  this.timeout(120_000);
  let set: ReplicaSet | undefined;
  let fleet: Fleet;
  before(async () => {
    set = await findReplicaSet();
    if (set === undefined) return;
    fleet = await startFleet(2, {
      MONGODB_URL: withDatabase(set.url, `faults-${process.pid}`),
      STORE_TIMEOUT_MS,
      LIMIT_SCALE: 1_000,
      LIMITER_TIMEOUT_MS: 5_000,
    });
  });
  after(async () => {
    if (set === undefined) return;
    await fleet.stop();
    await set.stop();
  });

  it("loses nothing when its primary steps down: the service bridges the election or returns 503 in time", async function () {
    if (set === undefined)
      skip(this, "it needs a real mongod, or a MONGODB_URL that names a replica set of three members");
    const before = await primary();
    await survive(fleet, STORE_TIMEOUT_MS, {
      lastsMs: STEPPED_DOWN_MS,
      maybeBridged: true, // an election may end within the driver's retry of a read or write
      begin: stepDown,
      end: () => undefined,
    });
    expect(await primary(), "another primary was elected").to.not.equal(before);
  });

  /** Returns the address of the primary, as the members know it. */
  async function primary(): Promise<unknown> {
    return (await fleet.operators.mongo.client.db("admin").command({ hello: 1 }))["primary"];
  }

  async function stepDown(): Promise<void> {
    // The server may close the connection that carries the command.
    await fleet.operators.mongo.client
      .db("admin")
      .command({ replSetStepDown: 10, force: true })
      .catch(() => undefined);
  }
});
