import { once } from "node:events";
import { expect } from "chai";
import { expectReadable, useObserved } from "../support/observed.ts";

/** In each round of the stutter, the process runs this long, and then stands still this long. In milliseconds. */
const RUNS = 100;
const STANDS = 150;

describe("the alerts while the process", () => {
  const { service, prometheus } = useObserved();

  it("is well: none", async () => {
    expect(await prometheus.firingNow()).to.deep.equal([]);
  });

  it("gets the CPU only now and then: event-loop delay", async () => {
    await prometheus.quiet("OnboardingEventLoopDelay");
    const { child } = service;
    let resume: NodeJS.Timeout | undefined;
    const stutter = setInterval(() => {
      child.kill("SIGSTOP");
      resume = setTimeout(() => child.kill("SIGCONT"), STANDS);
    }, RUNS + STANDS);
    try {
      expectReadable(await prometheus.firing("OnboardingEventLoopDelay"));
    } finally {
      clearInterval(stutter);
      clearTimeout(resume);
      child.kill("SIGCONT");
    }
    await prometheus.quiet("OnboardingEventLoopDelay");
  });

  it("is gone: down", async () => {
    const gone = once(service.child, "exit");
    service.child.kill("SIGKILL");
    await gone;
    expectReadable(await prometheus.firing("OnboardingDown"));
  });
});
