import { expect } from "chai";
import { useProxy } from "../../limiter/proxy.ts";
import { useRedisServer } from "../../support/servers.ts";
import { TIMEOUT_MS } from "./blame.ts";
import { expectExactLimits, expectLimitsHold, REPLICAS, useReplicasOver } from "./expectations.ts";

/** A 503 comes at most this long after the time-out. */
const LATE_MS = 50;

describe(`${REPLICAS} replicas return 503 in time while`, function () {
  this.timeout(90_000);
  const server = useRedisServer();
  const proxy = useProxy(server);
  const service = useReplicasOver(proxy);

  it("Redis is paused", async () => {
    const { slowestOwnMs } = await expectExactLimits(service, {
      strike: () => server.pause(),
      heal: () => server.resume(),
      whileIdle: true,
    });
    expect(slowestOwnMs).to.be.at.most(TIMEOUT_MS + LATE_MS);
  });

  it("the network delivers responses late", async () => {
    const { slowestOwnMs } = await expectLimitsHold(service, {
      strike: () => (proxy.answerDelayMs = 5_000),
      heal: () => proxy.mend(),
    });
    expect(slowestOwnMs).to.be.at.most(TIMEOUT_MS + LATE_MS);
  });
});
