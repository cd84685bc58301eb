import { EventEmitter, once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { MongoClient } from "mongodb";
import { reviveStuckClient } from "../../src/infra/heartbeats.ts";

const CONNECT_MS = 50;
const HEARTBEAT_MS = 600;
/** The time that a heartbeat may take beyond the driver's own limit. */
const GRACE_MS = 500;

/** A client without a server, which records the calls that it gets. A test cannot make a real socket hang when it wants to. */
class FakeClient extends EventEmitter {
  readonly options = { connectTimeoutMS: CONNECT_MS, heartbeatFrequencyMS: HEARTBEAT_MS };
  readonly calls: string[] = [];
  /** How many attempts to connect fail. */
  failures = 0;

  /** As in the driver, closing a client ends its connection to each server, with an event for each. */
  async close(): Promise<void> {
    this.calls.push("close");
    for (const address of ["a", "b"]) this.emit("serverClosed", { address });
  }

  async connect(): Promise<void> {
    this.calls.push("connect");
    this.emit("connect");
    if (this.failures-- > 0) throw new Error("no server");
  }
}

describe("a MongoDB client whose heartbeat is stuck", () => {
  let client: FakeClient;
  let closing: AbortController;
  let revived: number[];
  let began: number;
  beforeEach(() => {
    client = new FakeClient();
    closing = new AbortController();
    revived = [];
    began = performance.now();
    const onRevival = () => revived.push(performance.now() - began);
    reviveStuckClient(client as unknown as MongoClient, { onRevival, signal: closing.signal });
  });
  afterEach(() => closing.abort());
  const start = (server: string, awaited = false) =>
    client.emit("serverHeartbeatStarted", { connectionId: server, awaited });

  it("is reconnected half a second after the driver's own limit, and tried again until that succeeds", async () => {
    client.failures = 1;
    start("a");
    await once(client, "connect");
    await once(client, "connect");
    await setTimeout(100);
    expect(client.calls).to.deep.equal(["close", "connect", "connect"]);
    expect(revived).to.have.length(1);
    expect(revived[0]).to.be.at.least(CONNECT_MS + GRACE_MS - 5);
  });

  it("has more time if the server delays its replies", async () => {
    start("a", true);
    await once(client, "connect");
    expect(revived[0]).to.be.at.least(HEARTBEAT_MS + CONNECT_MS + GRACE_MS - 5);
  });

  it("is left alone if each heartbeat ends, in whatever way, or the next one begins", async () => {
    for (const server of ["a", "b", "c"]) start(server);
    client.emit("serverHeartbeatSucceeded", { connectionId: "a" });
    client.emit("serverHeartbeatFailed", { connectionId: "b" });
    client.emit("serverClosed", { address: "c" });
    start("d");
    await setTimeout(300);
    start("d");
    await setTimeout(300);
    client.emit("serverHeartbeatSucceeded", { connectionId: "d" });
    await setTimeout(CONNECT_MS + GRACE_MS + 100);
    expect(client.calls).to.deep.equal([]);
  });

  it("is revived once if several servers do not respond", async () => {
    start("a");
    start("b");
    await once(client, "connect");
    await setTimeout(100);
    expect(client.calls).to.deep.equal(["close", "connect"]);
  });

  it("stays closed once it was closed for good", async () => {
    start("a");
    closing.abort();
    await setTimeout(CONNECT_MS + GRACE_MS + 200);
    expect(client.calls).to.deep.equal([]);
    expect(revived).to.deep.equal([]);
  });

  it("is closed again if it is closed for good while it connects", async () => {
    client.failures = Infinity;
    start("a");
    await once(client, "connect");
    closing.abort();
    await setTimeout(700);
    expect(client.calls).to.deep.equal(["close", "connect", "close"]);
  });
});
