import { readFileSync } from "node:fs";
import { request } from "node:http";
import { once } from "node:events";
import { expect } from "chai";
import { scrape } from "../support/metrics.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";

/** Identifiers of the API. No label may hold one: it would grow with accounts. */
const ID = /(acct|key|cand|doc|ref|grant|req)_[0-9a-z]{10,}/;

const LABELS = { http_request_method: "POST", http_route: "/candidates", http_response_status_code: "201" };

describe("GET /metrics", () => {
  const service = useOwnService();
  const account = useAccount(service);
  const { client } = account;

  it("counts requests by method, route and status", async () => {
    const before = (await scrape(service)).value("http_server_request_duration_seconds_count", LABELS) ?? 0;
    await client.post("/candidates");
    await client.post("/candidates");
    const after = await scrape(service);
    expect(after.value("http_server_request_duration_seconds_count", LABELS)).to.equal(before + 2);
    expect(after.value("http_server_request_duration_seconds_bucket", { ...LABELS, le: "+Inf" })).to.equal(before + 2);
  });

  it("times requests, in seconds", async () => {
    const seconds = async () => (await scrape(service)).value("http_server_request_duration_seconds_sum", LABELS) ?? 0;
    const before = await seconds();
    const began = performance.now();
    await client.post("/candidates");
    const elapsed = (performance.now() - began) / 1000;
    expect((await seconds()) - before)
      .to.be.above(0)
      .and.below(elapsed);
  });

  it("gives an unknown path and a refused method no route", async () => {
    const count = async (status: string) =>
      (await scrape(service)).value("http_server_request_duration_seconds_count", {
        http_route: "",
        http_response_status_code: status,
      }) ?? 0;
    const before = [await count("404"), await count("405")];
    await client.get("/no-such-path");
    await client.request("DELETE", "/candidates");
    expect([await count("404"), await count("405")]).to.deep.equal(before.map((value) => value + 1));
  });

  it("counts methods that are not HTTP's own as one", async () => {
    const own = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"];
    for (const method of ["PROPFIND", "MKCOL", ...own])
      await once(request(`${service.url}/no-such-path`, { method }).end(), "response");
    const methods = (await scrape(service)).valuesOf("http_request_method");
    expect([...methods])
      .to.include.members(["_OTHER", ...own])
      .and.not.include.members(["PROPFIND", "MKCOL"]);
  });

  it("counts the limiter's decisions by surface, verdict and scope", async () => {
    const { key } = await account.another();
    const decisions = async (verdict: string, scope: string) =>
      (await scrape(service)).value("limiter_decisions_total", { surface: "pack", verdict, scope }) ?? 0;
    const before = [await decisions("admitted", ""), await decisions("key_exhausted", "key")];
    for (let sent = 0; sent < 12; sent++)
      await client.get("/candidates/cand_1/pack", { Authorization: `Bearer ${key}` });
    expect(await decisions("admitted", "")).to.equal((before[0] ?? 0) + 10);
    expect(await decisions("key_exhausted", "key")).to.equal((before[1] ?? 0) + 2);
  });

  it("times decisions, operations of both servers, and says that both are up", async () => {
    await client.post("/candidates");
    const metrics = await scrape(service);
    expect(metrics.value("limiter_decision_duration_seconds_count")).to.be.above(0);
    for (const [system, operation] of [
      ["redis", "evalsha"],
      ["mongodb", "insert"],
    ] as const) {
      const labels = { db_system_name: system, db_operation_name: operation, error_type: "" };
      expect(metrics.value("db_client_operation_duration_seconds_count", labels), operation).to.be.above(0);
      expect(metrics.value("dependency_up", { db_system_name: system })).to.equal(1);
    }
    expect(metrics.value("db_client_connection_count")).to.be.above(0);
    expect(metrics.value("redis_memory_used_bytes")).to.be.above(100_000);
  });

  it("tells how far the feed is behind, what is unsettled, and how the event loop does", async () => {
    const metrics = await scrape(service);
    expect(metrics.value("feed_lag_seconds")).to.equal(0);
    expect(metrics.value("feed_unsettled_writes")).to.equal(0);
    expect(metrics.value("http_server_active_requests")).to.equal(0);
    expect(metrics.value("nodejs_eventloop_delay_max_seconds")).to.be.within(0, 60);
    expect(metrics.value("nodejs_eventloop_utilization_ratio")).to.be.within(0, 1);
    expect(metrics.value("process_resident_memory_bytes")).to.be.above(1e7);
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(metrics.value("target_info", { service_version: version })).to.equal(1);
  });

  it("tells how long the event loop was held up", async () => {
    await scrape(service); // the first call begins to watch it
    const until = performance.now() + 300;
    while (performance.now() < until);
    const metrics = await scrape(service);
    const max = metrics.value("nodejs_eventloop_delay_max_seconds");
    expect(max).to.be.within(0.25, 60);
    expect(metrics.value("nodejs_eventloop_delay_p99_seconds")).to.be.within(0, max ?? 0);
  });

  it("counts the passes of every sweep from zero", async () => {
    const metrics = await scrape(service);
    for (const sweep of ["expiries", "erasures", "idempotency_records", "left_over_bytes", "left_over_mail"])
      expect(metrics.value("sweep_runs_total", { sweep, outcome: "failed" }), sweep).to.equal(0);
  });

  it("names no account, key or object in a label, except the few accounts that are refused most", async () => {
    const { body } = await client.post("/candidates");
    await client.get(`/candidates/${body.id}`);
    const response = await fetch(`${service.opsUrl}/metrics`);
    expect(response.headers.get("content-type")).to.equal("text/plain; version=0.0.4; charset=utf-8");
    // Other tests of this service may have been refused.
    expect((await response.text()).replaceAll(/^limiter_account_refusals\{.*\n/gm, "")).not.to.match(ID);
  });
});
