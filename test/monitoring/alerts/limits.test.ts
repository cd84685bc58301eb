import { expect } from "chai";
import { answerOf, serversOf } from "../../admin/support.ts";
import { startLiar } from "../../load/liar.ts";
import { useRedisServer } from "../../support/servers.ts";
import { expectReadable, useObserved } from "../support/observed.ts";

describe("the alerts of the exactness probe", () => {
  const redis = useRedisServer({ args: ["--appendonly", "no", "--save", ""] }); // a restart begins a new window
  // With this, six hours take 15 seconds.
  const { service, prometheus } = useObserved(() => ({ REDIS_URL: redis.url, LIMIT_SCALE: 1 }), 1440);
  const probes = () => service.operators.mongo.db.collection<{ _id: string }>("meta");

  const firing = async () => (await prometheus.firingNow()).filter((name) => name.startsWith("OnboardingLimits"));

  const probe = (url: string) => {
    const env = { ...serversOf(service.config), LIMIT_WINDOW_SECONDS: "86400", ADMIN_ACTOR: "probe" };
    return answerOf(["limits", "probe", "--url", url, "--settle-seconds", "0"], env);
  };

  it("do not fire if there is no probe, or if it finds the limits exact", async () => {
    expect(await firing()).to.deep.equal([]);
    expect(await probe(service.url)).to.include({ exact: true });
    await prometheus.until("onboarding_limits_exact == 1");
    expect(await firing()).to.deep.equal([]);
  });

  it("fire while a service admits one too many, and end when it is exact again", async () => {
    await redis.kill();
    await redis.restart();
    const liar = await startLiar(service.url, "one too many");
    try {
      expect(await probe(liar.url)).to.include({ exact: false });
    } finally {
      liar.close();
    }
    expectReadable(await prometheus.firing("OnboardingLimitsInexact"));
    await probes().updateOne({ _id: "exactness" }, { $set: { exact: 1 } });
    await prometheus.quiet("OnboardingLimitsInexact");
  });

  it("fire if no run can tell for hours, and end when one can", async () => {
    const tell = (exact: 1 | null) => probes().updateOne({ _id: "exactness" }, { $set: { exact } });
    await tell(null);
    expectReadable(await prometheus.firing("OnboardingLimitsUnchecked"));
    await tell(1);
    await prometheus.quiet("OnboardingLimitsUnchecked");
  });
});
