import { expect } from "chai";
import { startMongo } from "../../support/servers.ts";
import type { TestAccount } from "../../support/service.ts";
import { useStarted } from "../../support/use-started.ts";
import { expectReadable, useObserved } from "../support/observed.ts";
import { useTraffic } from "../support/traffic.ts";

describe("the alerts while MongoDB", () => {
  const server = useStarted(
    "The MongoDB server",
    () => startMongo(),
    (server) => server.stop(),
  );
  const { service, prometheus } = useObserved(() => ({ MONGODB_URL: server.url, STORE_TIMEOUT_MS: 1_000 }));
  const traffic = useTraffic(service);
  let account: TestAccount;
  before(async () => {
    account = await service.account();
    await account.client.get("/candidates"); // so that the service has its key in memory
  });

  it("is well: none", async () => {
    expect(await prometheus.firingNow()).to.deep.equal([]);
    expect([...traffic.statuses.keys()]).to.deep.equal([200]);
  });

  it("is paused during a write: a change is late in the feed, until MongoDB goes on", async () => {
    server.pause();
    const { status } = await account.client.post("/candidates");
    expect(status).to.equal(503);
    expectReadable(await prometheus.firing("OnboardingFeedLag"));
    server.resume();
    await prometheus.quiet("OnboardingFeedLag");
    await prometheus.quiet("OnboardingStoreUnavailable");
  });

  it("is killed: store unavailable until it is back", async () => {
    await server.kill();
    expectReadable(await prometheus.firing("OnboardingStoreUnavailable"));
    expect(await prometheus.firingNow(), "Redis is well").not.to.include("OnboardingLimiterUnavailable");
    await server.restart();
    await prometheus.quiet("OnboardingStoreUnavailable");
  });

  it("is killed while nobody sends a request: store unavailable", async () => {
    await traffic.stop();
    await server.kill();
    expectReadable(await prometheus.firing("OnboardingStoreUnavailable"));
    await server.restart();
    await prometheus.quiet("OnboardingStoreUnavailable");
  });
});
