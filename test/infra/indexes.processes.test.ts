import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { freePort } from "../../src/dev/server-process.ts";
import { type Member, startMember } from "../support/processes.ts";
import { type Network, startNetwork } from "../faults/store/network.ts";
import { primaryOf } from "../support/mongo-url.ts";
import { environmentOf, testConfig } from "../support/service.ts";
import { useDatabase } from "../support/use-service.ts";

const STORE_TIMEOUT_MS = 500;

for (const REPLICAS of [1, 2]) {
  describe(`the indexes that a service of ${REPLICAS} creates at its start`, function () {
    const mongo = useDatabase();
    let network: Network;
    let opsUrl: string;
    let starting: Promise<Member> | undefined;
    before(async function () {
      const primary = await primaryOf(testConfig().MONGODB_URL ?? "");
      if (primary.tls) this.skip(); // nobody can hold back one message of it
      network = await startNetwork(primary.port);
      network.holds = (data) => network.held < REPLICAS && data.includes("createIndexes");
      const OPS_PORT = await freePort();
      opsUrl = `http://127.0.0.1:${OPS_PORT}`;
      const MONGODB_URL = primary.through(`127.0.0.1:${network.port}`, mongo.db.databaseName);
      const env = environmentOf(testConfig({ STORE_TIMEOUT_MS, OPS_PORT, REPLICAS }));
      starting = startMember({ ...env, MONGODB_URL });
      starting.catch(() => undefined);
      while (network.held < REPLICAS) await setTimeout(5);
    });
    after(async () => {
      await (await starting)?.end("SIGTERM");
      network?.close();
    });

    it("may take longer than any other operation, and are tried again if the connection is lost", async () => {
      await setTimeout(3 * STORE_TIMEOUT_MS);
      expect((await fetch(`${opsUrl}/livez`)).status).to.equal(200);
      const notReady = await fetch(`${opsUrl}/readyz`);
      expect([notReady.status, await notReady.json()]).to.deep.equal([503, { ok: false, faults: ["starting"] }]);
      network.cut();
      const { log } = await starting!;
      const again = log.filter(({ msg }) => msg === "a server does not respond, waiting for it");
      expect(new Set(again.map(({ pid }) => pid)).size).to.equal(REPLICAS);
      expect((await fetch(`${opsUrl}/readyz`)).status).to.equal(200);
    });
  });
}
