import { expect } from "chai";
import { useProxy } from "../../limiter/proxy.ts";
import { useRedisServer } from "../../support/servers.ts";
import { endure, endureExactly, REPLICAS, useReplicasOver } from "./expectations.ts";

const LATENCY_MS = 5_000;
/** Where an answer is lost its charge may have counted; then the counters hold more than was admitted, never less. */
const NEVER_OVER = "never over the limit, exact in what was charged; 503 in time; well in 2 s";

describe(`the limits of ${REPLICAS} replicas hold while the network to Redis`, function () {
  this.timeout(90_000);
  const server = useRedisServer();
  const proxy = useProxy(server);
  const service = useReplicasOver(proxy);

  it("cuts every connection, again and again", async () => {
    let cutting: NodeJS.Timeout;
    const { numbers } = await endure(
      service,
      { fault: "every connection to Redis is cut, every 50 ms for 2 s", held: NEVER_OVER },
      {
        strike: () => (cutting = setInterval(() => proxy.cut(), 50)),
        heal: () => clearInterval(cutting),
      },
    );
    expect(numbers.lost).to.equal(0);
  });

  it("loses an answer and its connection, again and again", async () => {
    let losing: NodeJS.Timeout;
    const { numbers, overcharged } = await endure(
      service,
      { fault: "an answer of Redis is lost, and its connection cut, every 100 ms for 2 s", held: NEVER_OVER },
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
    const { numbers } = await endure(
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
    await endureExactly(service, "5 s of latency to Redis, for 2 s", {
      strike: () => (proxy.delayMs = LATENCY_MS),
      heal: () => proxy.mend(),
      settled: () => proxy.delivered(),
    });
  });

  it("delivers answers late", async () => {
    const { numbers } = await endure(
      service,
      { fault: "5 s of latency from Redis, for 2 s", held: NEVER_OVER },
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
    it(`swallows ${what}`, async () => {
      const { numbers, overcharged } = await endure(
        service,
        { fault: `the network swallows ${what} for 2 s, then delivers them`, held: NEVER_OVER },
        {
          strike: () => proxy.swallow(way),
          heal: () => proxy.mend(),
          settled: () => proxy.delivered(),
          quietly: true,
        },
      );
      expect(numbers.lost).to.equal(0);
      if (way === "toServer") expect(overcharged).to.equal(0);
    });

    it(`half-closes connections ${way === "toServer" ? "to the server" : "to the client"}`, async () => {
      const fault = `every connection is half-closed ${way === "toServer" ? "to Redis" : "from Redis"}, every 50 ms for 2 s`;
      let closing: NodeJS.Timeout;
      const { numbers } = await endure(
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
