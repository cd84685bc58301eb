import { expect } from "chai";
import { serveOps } from "../../src/process/ops.ts";
import { scrape } from "../support/metrics.ts";
import { useRedisServer } from "../support/servers.ts";
import { useProcesses, useSharedAccount } from "../support/use-service.ts";

/** What /readyz returns. */
async function readiness({ opsUrl }: { opsUrl: string }, query = ""): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${opsUrl}/readyz${query}`);
  return { status: response.status, body: await response.json() };
}

const READY = { status: 200, body: { ok: true, faults: [] } };
const WITHOUT_REDIS = { status: 503, body: { ok: false, faults: ["redis does not answer"] } };

for (const onOutage of ["refuse", "local"]) {
  describe(`A replica without Redis, LIMITER_ON_OUTAGE=${onOutage}`, () => {
    const redis = useRedisServer();
    const service = useProcesses(() => ({
      REDIS_URL: redis.url,
      LIMITER_ON_OUTAGE: onOutage,
      LIMITER_TIMEOUT_MS: 1_000,
    }));
    const { client } = useSharedAccount(service);

    it("is ready, because it responds; /readyz?deep=1 and its metrics say what is wrong", async () => {
      expect(await readiness(service)).to.deep.equal(READY);
      expect(await readiness(service, "?deep=1")).to.deep.equal(READY);
      expect((await client.post("/candidates")).status).to.equal(201);
      await redis.kill();

      expect(await readiness(service, "?deep=1")).to.deep.equal(WITHOUT_REDIS);
      expect(await readiness(service)).to.deep.equal(READY);
      const statuses = [(await client.post("/candidates")).status];
      // It takes an outage of a second to fall back.
      while (onOutage === "local" && statuses.at(-1) !== 201) statuses.push((await client.post("/candidates")).status);
      expect(new Set(statuses.slice(0, -1))).to.deep.equal(new Set(onOutage === "local" ? [503] : []));
      const metrics = await scrape(service);
      expect(metrics.value("dependency_up", { db_system_name: "redis" })).to.equal(0);
      expect(metrics.value("dependency_up", { db_system_name: "mongodb" })).to.equal(1);
      expect(metrics.value("limiter_outages_total")).to.equal(1);
      expect(metrics.value("limiter_decisions_total", { verdict: "unavailable" })).to.equal(statuses.length);
      expect(metrics.value("limiter_local_decisions_total") ?? 0).to.equal(onOutage === "local" ? 1 : 0);
    });
  });
}

describe("A replica that is told to stop", () => {
  const service = useProcesses();

  it("is not ready as soon as it drains", async () => {
    const draining = service.logged(({ msg }) => msg === "draining");
    service.child.kill("SIGTERM");
    await draining;
    expect(await readiness(service)).to.deep.equal({ status: 503, body: { ok: false, faults: ["draining"] } });
  });
});

describe("The operators' port", () => {
  it("responds with 500 with the reason if the metrics cannot be read", async () => {
    const source = { faults: () => Promise.resolve([]), metrics: () => Promise.reject(new Error("no metrics today")) };
    const ops = await serveOps(source, 0, "127.0.0.1");
    try {
      const response = await fetch(`http://127.0.0.1:${ops.port}/metrics`);
      expect(response.status).to.equal(500);
      expect(response.headers.get("content-type")).to.equal("text/plain");
      expect(await response.text()).to.equal("Error: no metrics today");
    } finally {
      ops.close();
    }
  });
});
