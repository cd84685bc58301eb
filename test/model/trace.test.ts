import { expect } from "chai";
import { checkAll, traceModules } from "./trace-checks.ts";

/** The fewest traces that a check must see, so that it is no check of nothing. */
const ENOUGH = 40;
/** The fewest traces that .ci/run records in the folder TRACES before this suite. */
const ENOUGH_RECORDED: Readonly<Record<string, number>> = { limiter: 10, feed: 2 };
const recorded = process.env.TRACES_TO_CHECK;
const modules = await traceModules();

describe("the code follows the models:", function () {
  this.timeout(300_000);

  for (const each of modules) {
    it(`every recorded trace of the ${each.TRACE_PREFIX} is a behaviour of its module`, async () => {
      const checks = await checkAll(each, recorded);
      expect(checks.flatMap(({ refused }) => refused)).to.deep.equal([]);
      expect(checks.reduce((sum, { traces }) => sum + traces, 0)).to.be.at.least(ENOUGH);
      if (recorded)
        expect(checks[1]?.traces ?? 0, "traces in the folder TRACES").to.be.at.least(
          ENOUGH_RECORDED[each.TRACE_PREFIX]!,
        );
    });
  }
});
