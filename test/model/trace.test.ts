import { expect } from "chai";
import { recordAndCheck, traceModules } from "./trace-checks.ts";

const modules = await traceModules();

describe("the code follows the models:", function () {
  this.timeout(300_000);

  for (const each of modules)
    for (const run of each.RUNS)
      it(`every recorded trace of the ${each.TRACE_PREFIX} is a behaviour of its module: ${run.about}`, async () => {
        const { refused, traces, kinds } = await recordAndCheck(each, run);
        expect(refused).to.deep.equal([]);
        expect(traces).to.be.at.least(run.traces);
        expect([...kinds]).to.include.members(run.kinds);
      });
});
