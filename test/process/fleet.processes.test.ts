import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { scrape } from "../support/metrics.ts";
import { useRedisServer } from "../support/servers.ts";
import { useProcesses, useSharedAccount } from "../support/use-service.ts";

const REPLICAS = 3;
const REQUESTS = 60;
const COUNT = "http_server_request_duration_seconds_count";
const CREATED = { http_route: "/candidates", http_response_status_code: "201" };

describe("The operators' port of several processes", () => {
  const redis = useRedisServer();
  const service = useProcesses(() => ({ REPLICAS, LIMIT_SCALE: 100, REDIS_URL: redis.url }));
  const { client } = useSharedAccount(service);

  /** Sends requests over connections of their own, so that every process gets some. */
  async function create(count: number): Promise<void> {
    const send = () => client.post("/candidates", {}, { Connection: "close" });
    await Promise.all(Array.from({ length: count }, send));
  }

  const pids = (): number[] => [...new Set(service.log.filter(({ msg }) => msg === "serving").map(({ pid }) => pid))];
  const readiness = async () => (await fetch(`${service.opsUrl}/readyz`)).status;

  it("responds with the sum over all processes", async () => {
    const requests = () => service.log.filter(({ msg }) => msg === "request");
    let sent = 0;
    // On a busy machine one process may take every connection of a turn.
    for (let busy = 0; busy < 2; busy = new Set(requests().map(({ pid }) => pid)).size) {
      await create(REQUESTS);
      sent += REQUESTS;
      while (requests().length < sent) await service.logged(({ msg }) => msg === "request");
    }
    const metrics = await scrape(service);
    expect(metrics.value(COUNT, CREATED)).to.equal(sent);
    expect(metrics.value("limiter_decisions_total", { surface: "create", verdict: "admitted" })).to.equal(sent);
    expect(metrics.value("target_info")).to.equal(1);
    expect(metrics.value("dependency_up", { db_system_name: "redis" })).to.equal(1);
  });

  it("stays ready while a process that was killed is replaced, and then responds for its successor", async () => {
    const [pid = 0] = pids();
    const replaced = service.logged(({ msg }) => msg === "serving");
    process.kill(pid, "SIGKILL");
    expect(await readiness()).to.equal(200);
    await replaced;
    expect(await readiness()).to.equal(200);
    expect((await scrape(service)).value("target_info")).to.equal(1);
  });

  it("says which server does not respond only if it is asked to look deeper", async () => {
    await redis.kill();
    const deep = async () => (await fetch(`${service.opsUrl}/readyz?deep=1`)).json();
    while (((await deep()) as { ok: boolean }).ok) await setTimeout(50); // a worker checks every 5 s
    expect(await deep()).to.deep.equal({ ok: false, faults: ["redis does not answer"] });
    expect(await readiness()).to.equal(200);
  });

  it("reports that it drains as soon as it is told to stop", async () => {
    const draining = service.logged(({ msg }) => msg === "draining");
    service.child.kill("SIGTERM");
    await draining;
    const response = await fetch(`${service.opsUrl}/readyz`);
    expect(response.status).to.equal(503);
    expect(await response.json()).to.deep.equal({ ok: false, faults: ["draining"] });
  });
});
