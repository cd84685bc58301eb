import { author } from "../support/records.ts";
import { expect } from "chai";
import { CandidateStore } from "../../src/candidates/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { Client } from "../support/client.ts";
import { spawnService } from "../support/processes.ts";
import { openOperators } from "../support/operators.ts";
import { testConfig } from "../support/service.ts";
import { candidateWithExpiry } from "./support.ts";

describe("the sweeps of two replicas", function () {
  this.timeout(60_000);

  it("expire overdue documents within seconds of the start, and show the change on the feed", async () => {
    const config = testConfig();
    const before = await openOperators(config);
    const { id: accountId } = await before.accounts.createAccount({ name: "Test" });
    const { key } = await before.accounts.createKey({ accountId, name: "test" });
    const candidates = new CandidateStore(before.mongo, new SharedClock());
    const { id } = await candidates.insert(candidateWithExpiry(accountId, "2026-01-31"), author());
    await before.close();

    const service = await spawnService({
      REPLICAS: 2,
      MONGODB_URL: config.MONGODB_URL ?? "",
      LIMITER_TIMEOUT_MS: 5_000,
    });
    try {
      const isExpiry = (line: object) =>
        "sweep" in line && line.sweep === "expiries" && "count" in line && line.count === 1;
      if (!service.log.some(isExpiry)) await service.logged(isExpiry);
      const { data } = (await new Client(service.url, key).get("/candidates")).body;
      expect(data.map((row) => row.id)).to.deep.equal([id]);
      expect(data[0]).to.include({ state: "action_required", version: 2 });
      expect(data[0]?.documents.map(({ state }) => state)).to.deep.equal(["expired"]);
    } finally {
      await service.stop();
    }
  });
});
