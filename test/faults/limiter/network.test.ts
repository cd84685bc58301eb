import { expect } from "chai";
import { useProxy } from "../../limiter/proxy.ts";
import { useRecorder } from "../../model/record.ts";
import { useRedisServer } from "../../support/servers.ts";
import { expectLimitsHold, expectExactLimits, REPLICAS, useReplicasOver } from "./expectations.ts";

const LATENCY_MS = 5_000;
/** A charge whose answer is lost may still count. The counters then exceed the admissions, and never fall short of them. */
const NEVER_OVER = "never over the limit, exact counting charges with lost answers; 503 in time; recovered in 2 s";

describe(`the limits of ${REPLICAS} replicas hold while the network to Redis`, function () {
  this.timeout(90_000);
  const server = useRedisServer();
  const proxy = useProxy(useRecorder(server));
  const service = useReplicasOver(proxy);

  it("cuts every connection repeatedly", async () => {
    let cutting: NodeJS.Timeout;
    const { numbers } = await expectLimitsHold(
      service,
      { fault: "all connections to Redis are cut every 50 ms for 2 s", held: NEVER_OVER },
      {
        strike: () => (cutting = setInterval(() => proxy.cut(), 50)),
        heal: () => clearInterval(cutting),
      },
    );
    expect(numbers.lost).to.equal(0);
  });

  it("loses an answer and its connection repeatedly", async () => {
    let losing: NodeJS.Timeout;
    const { numbers, overcharged } = await expectLimitsHold(
      service,
      { fault: "an answer of Redis is lost and its connection cut every 100 ms for 2 s", held: NEVER_OVER },
      {
        strike: () => (losing = setInterval(() => (proxy.loseAnswer = true), 100)),
        heal() {
          clearInterval(losing);
          proxy.loseAnswer = false;
        },
      },
    );
    expect(numbers.lost).to.equal(0);
    expect(overcharged, "charges whose answer was lost").to.be.above(0);
  });

  it("refuses connections", async () => {
    const { numbers } = await expectLimitsHold(
      service,
      { fault: "connections to Redis are cut and refused for 2 s", held: NEVER_OVER },
      {
        strike: () => proxy.refuse(),
        heal: () => proxy.mend(),
      },
    );
    expect(numbers.lost).to.equal(0);
  });

  it("delivers requests late", async () => {
    await expectExactLimits(service, "requests to Redis are delayed by 5 s, for 2 s", {
      strike: () => (proxy.delayMs = LATENCY_MS),
      heal: () => proxy.mend(),
      settled: () => proxy.delivered(),
    });
  });

  it("delivers answers late", async () => {
    const { numbers } = await expectLimitsHold(
      service,
      { fault: "answers of Redis are delayed by 5 s, for 2 s", held: NEVER_OVER },
      {
        strike: () => (proxy.answerDelayMs = LATENCY_MS),
        heal: () => proxy.mend(),
      },
    );
    expect(numbers.lost).to.equal(0);
  });

  for (const [way, what] of [
    ["toServer", "requests"],
    ["toClient", "answers"],
  ] as const) {
    it(`holds back ${what}`, async () => {
      const { numbers, overcharged } = await expectLimitsHold(
        service,
        { fault: `the network holds back ${what} for 2 s, then delivers them`, held: NEVER_OVER },
        {
          strike: () => proxy.swallow(way),
          heal: () => proxy.mend(),
          settled: () => proxy.delivered(),
          whileIdle: true,
        },
      );
      expect(numbers.lost).to.equal(0);
      if (way === "toServer") expect(overcharged).to.equal(0);
    });

    it(`half-closes connections ${way === "toServer" ? "to the server" : "to the client"}`, async () => {
      const fault = `all connections are half-closed ${way === "toServer" ? "to Redis" : "from Redis"} every 50 ms for 2 s`;
      let closing: NodeJS.Timeout;
      const { numbers } = await expectLimitsHold(
        service,
        { fault, held: NEVER_OVER },
        {
          strike: () => (closing = setInterval(() => proxy.halfClose(way), 50)),
          heal: () => clearInterval(closing),
        },
      );
      expect(numbers.lost).to.equal(0);
    });
  }
});
