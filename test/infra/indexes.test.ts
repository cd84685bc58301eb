import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { type Member, startMember } from "../faults/replicas/fleet.ts";
import { type Network, startNetwork } from "../faults/store/network.ts";
import { primaryOf } from "../support/mongo-url.ts";
import { environmentOf, testConfig } from "../support/service.ts";
import { useDatabase } from "../support/use-service.ts";

const STORE_TIMEOUT_MS = 500;

describe("the indexes that a replica creates at its start", function () {
  const mongo = useDatabase();
  let network: Network;
  let starting: Promise<Member>;
  before(async function () {
    const primary = await primaryOf(testConfig().MONGODB_URL ?? "");
    if (primary.tls) this.skip(); // nobody can hold back one message of it
    network = await startNetwork(primary.port);
    network.holds = (data) => network.held === 0 && data.includes("createIndexes");
    const { db } = mongo;
    const MONGODB_URL = primary.through(`127.0.0.1:${network.port}`, db.databaseName);
    const env = environmentOf(testConfig({ STORE_TIMEOUT_MS, LOG_LEVEL: "debug" }));
    starting = startMember({ ...process.env, ...env, MONGODB_URL });
    starting.catch(() => undefined);
    while (network.held === 0) await setTimeout(5);
  });
  after(async () => {
    await (await starting).end("SIGTERM");
    network.close();
  });

  it("may take longer than any other operation, and are tried again if the connection is lost", async () => {
    await setTimeout(3 * STORE_TIMEOUT_MS);
    network.cut();
    const { log } = await starting;
    expect(log.filter(({ msg }) => msg === "could not create the indexes, trying again")).to.have.length(1);
  });
});
