import { expect } from "chai";
import { useProxy } from "../../limiter/proxy.ts";
import { useRedisServer } from "../../support/servers.ts";
import { expectLimitsHold, expectExactLimits, REPLICAS, useReplicasOver } from "./expectations.ts";

const LATENCY_MS = 5_000;

/** A charge whose response is lost may still count. The counters then exceed the admissions, and never fall short of them. */
describe(`the limits of ${REPLICAS} replicas hold while the network to Redis`, function () {
  this.timeout(90_000);
  const server = useRedisServer();
  const proxy = useProxy(server);
  const service = useReplicasOver(proxy);

  it("cuts every connection repeatedly", async () => {
    let cutting: NodeJS.Timeout;
    const { lost } = await expectLimitsHold(service, {
      strike: () => (cutting = setInterval(() => proxy.cut(), 50)),
      heal: () => clearInterval(cutting),
    });
    expect(lost).to.equal(0);
  });

  it("loses a response and its connection repeatedly", async () => {
    let losing: NodeJS.Timeout;
    const { lost, overcharged } = await expectLimitsHold(service, {
      strike: () => (losing = setInterval(() => (proxy.loseAnswer = true), 100)),
      heal() {
        clearInterval(losing);
        proxy.loseAnswer = false;
      },
    });
    expect(lost).to.equal(0);
    expect(overcharged, "charges whose answer was lost").to.be.above(0);
  });

  it("refuses connections", async () => {
    const { lost } = await expectLimitsHold(service, {
      strike: () => proxy.refuse(),
      heal: () => proxy.mend(),
    });
    expect(lost).to.equal(0);
  });

  it("delivers requests late", async () => {
    await expectExactLimits(service, {
      strike: () => (proxy.delayMs = LATENCY_MS),
      heal: () => proxy.mend(),
      settled: () => proxy.delivered(),
    });
  });

  it("delivers responses late", async () => {
    const { lost } = await expectLimitsHold(service, {
      strike: () => (proxy.answerDelayMs = LATENCY_MS),
      heal: () => proxy.mend(),
    });
    expect(lost).to.equal(0);
  });

  for (const [way, what] of [
    ["toServer", "requests"],
    ["toClient", "answers"],
  ] as const) {
    it(`holds back ${what}`, async () => {
      const { lost, overcharged } = await expectLimitsHold(service, {
        strike: () => proxy.swallow(way),
        heal: () => proxy.mend(),
        settled: () => proxy.delivered(),
        whileIdle: true,
      });
      expect(lost).to.equal(0);
      if (way === "toServer") expect(overcharged).to.equal(0);
    });

    it(`half-closes connections ${way === "toServer" ? "to the server" : "to the client"}`, async () => {
      let closing: NodeJS.Timeout;
      const { lost } = await expectLimitsHold(service, {
        strike: () => (closing = setInterval(() => proxy.halfClose(way), 50)),
        heal: () => clearInterval(closing),
      });
      expect(lost).to.equal(0);
    });
  }
});
