import { EventEmitter } from "node:events";
import { expect } from "chai";
import type { MongoClient } from "mongodb";
import { Metrics } from "../../src/infra/metrics.ts";
import { watchPool } from "../../src/infra/mongo-pool.ts";
import { Scrape } from "../support/metrics.ts";

describe("the metrics of the connections to MongoDB", () => {
  function watched() {
    const metrics = new Metrics();
    const client = Object.assign(new EventEmitter(), { options: { maxPoolSize: 8 } });
    watchPool(client as unknown as MongoClient, metrics);
    const happened = (...events: string[]) => {
      for (const event of events) client.emit(event, { address: "one:1", reason: "timeout" });
    };
    const shown = async () => {
      const scrape = new Scrape(await metrics.registry.metrics());
      const count = (state: string) =>
        scrape.value("db_client_connection_count", { db_client_connection_state: state });
      return {
        used: count("used"),
        idle: count("idle"),
        pending: scrape.value("db_client_connection_pending_requests"),
        timeouts: scrape.value("db_client_connection_timeouts_total", { db_system_name: "mongodb" }) ?? 0,
      };
    };
    return { client, happened, shown };
  }

  it("count those that are used, those that are idle, and the operations that wait", async () => {
    const { happened, shown } = watched();
    happened("connectionPoolCreated", "connectionCreated", "connectionCreated", "connectionCreated");
    happened("connectionCheckOutStarted", "connectionCheckOutStarted", "connectionCheckedOut");
    expect(await shown()).to.deep.equal({ used: 1, idle: 2, pending: 1, timeouts: 0 });
    happened("connectionCheckedIn", "connectionClosed");
    expect(await shown()).to.deep.equal({ used: 0, idle: 2, pending: 1, timeouts: 0 });
  });

  it("count an operation that gave up waiting, and whether it waited too long", async () => {
    const { client, happened, shown } = watched();
    happened("connectionPoolCreated", "connectionCheckOutStarted", "connectionCheckOutStarted");
    happened("connectionCheckOutFailed");
    expect(await shown()).to.deep.equal({ used: 0, idle: 0, pending: 1, timeouts: 1 });
    client.emit("connectionCheckOutFailed", { address: "one:1", reason: "connectionError" });
    expect(await shown()).to.deep.equal({ used: 0, idle: 0, pending: 0, timeouts: 1 });
  });

  it("forget a pool that was closed", async () => {
    const { happened, shown } = watched();
    happened("connectionPoolCreated", "connectionCreated", "connectionPoolClosed", "connectionCheckedOut");
    expect(await shown()).to.deep.equal({ used: 0, idle: 0, pending: 0, timeouts: 0 });
  });
});
