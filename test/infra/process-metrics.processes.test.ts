import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Holds the event loop up for 300 ms, from the moment at which a period of the metrics ends. */
const PROGRAM = `
  let endsPeriod;
  const real = globalThis.setInterval;
  globalThis.setInterval = (act, ms) => (ms === 10_000 ? ((endsPeriod = act), { unref() {} }) : real(act, ms));
  const { processMetrics } = await import("./src/infra/process-metrics.ts");
  const registry = processMetrics();
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(100);
  endsPeriod();
  const until = performance.now() + 300;
  while (performance.now() < until);
  await wait(100);
  console.log(await registry.getSingleMetricAsString("nodejs_eventloop_delay_max_seconds"));
`;

describe("the longest delay of the event loop", () => {
  it("is not lost if it begins when a period of the metrics ends", async () => {
    const args = ["--import", "tsx", "--input-type=module", "--eval", PROGRAM];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    expect(Number(/^nodejs_eventloop_delay_max_seconds (\S+)$/m.exec(stdout)?.[1])).to.be.within(0.25, 60);
  });
});
