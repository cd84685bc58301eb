import { expect } from "chai";
import type { LoadRequest } from "../../support/load.ts";
import type { TestAccount } from "../../support/service.ts";
import { useProcesses } from "../../support/use-service.ts";
import { expectReadable } from "../support/observed.ts";
import { JOB, usePrometheus } from "../support/prometheus.ts";
import { startTraffic, type Traffic } from "../support/traffic.ts";

/** Length of a window, which is an hour in the cluster. */
const WINDOW_SECONDS = 3;
/** A key may send 10 of these in a window, an account 20. The candidate need not exist. */
const start = (key: string): LoadRequest => ({ method: "POST", path: "/candidates/cand_none/start", key });

describe("the alert about an account at its limit", () => {
  const service = useProcesses({ LIMIT_WINDOW_SECONDS: WINDOW_SECONDS });
  const prometheus = usePrometheus(() => ({
    targets: { [JOB]: service.opsUrl },
    times: 3_600 / WINDOW_SECONDS,
  }));
  let greedy: TestAccount;
  let modest: TestAccount;
  const traffic: Traffic[] = [];
  before(async () => {
    [greedy, modest] = await Promise.all([service.account(), service.account()]);
    traffic.push(startTraffic(service.url, start(greedy.key), 20), startTraffic(service.url, start(modest.key), 600));
  });
  // Not after all: the service has stopped by then.
  afterEach(() => Promise.all(traffic.map((each) => each.stop())));

  it("fires for the account whose requests were refused in each of eight windows, and for no other", async () => {
    await prometheus.until("sum by (account) (limiter_account_refusals) > 0");
    expect(await prometheus.firingNow(), "after less than eight windows").not.to.include("OnboardingAccountAtLimit");
    const alert = await prometheus.firing("OnboardingAccountAtLimit");
    expectReadable(alert);
    expect(alert.labels).to.include({ account: greedy.id, surface: "start" });
    expect(alert.annotations["description"]).to.contain(`${greedy.id} was refused start requests`);
    expect(Number(alert.value)).to.equal(8);
    const named = await prometheus.query("max_over_time(limiter_account_refusals[1h])");
    expect(new Set(named.map(({ metric }) => metric["account"]))).to.deep.equal(new Set([greedy.id]));
  });
});
