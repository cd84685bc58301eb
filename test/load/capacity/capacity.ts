import { type Host, UsageError } from "../lib/host.ts";
import { Run } from "../lib/run.ts";
import { readSettings } from "../lib/settings.ts";
import { adminBy } from "./admin.ts";
import type { Capacity } from "./config.ts";
import { cleanUp, Crew } from "./crew.ts";
import { isGeneratorLate, needsOf, runStep, type Step } from "./ramp.ts";
import { reportOf } from "./report.ts";

/**
 * Finds the highest rate that a deployment bears: raises the rate until p99 or the share of failures is above its bound.
 * Then prints a report, and deletes what it created, also after SIGINT.
 * @returns true if the service's bound was found, or max_rate was reached.
 */
export async function capacityOf(capacity: Capacity, host: Host): Promise<boolean> {
  const admin = adminBy(capacity.admin);
  const stopping = new AbortController();
  const stop = (): void => {
    host.say("stopping: what was made is deleted. Once more ends it at once, and leaves it for --cleanup.");
    stopping.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  const steps: Step[] = [];
  try {
    const keys: string[] = [];
    const settings = { ...readSettings({ BASE_URL: capacity.url, KEYS: "-", YES: "1" }), keys };
    const crew = new Crew(new Run(settings, host), keys, admin);
    const [isFound, verdict] = await ramp(capacity, crew, steps, stopping.signal, host);
    for (const line of reportOf(steps, capacity)) host.say(line);
    host.say(verdict);
    return isFound;
  } finally {
    await tidy(capacity, host);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  }
}

/** Deletes what this run and earlier ones created, and prints what is left. @returns true if nothing is left. */
export async function tidy({ url, admin }: Capacity, host: Host): Promise<boolean> {
  const { accounts, left } = await cleanUp(url, adminBy(admin), host);
  host.say(`cleaned up: ${accounts} accounts`);
  if (left > 0)
    host.say(`left: ${left} candidates or more, as the limits allow no more deletes. Run --cleanup in the next hour.`);
  return left === 0;
}

async function ramp(
  capacity: Capacity,
  crew: Crew,
  steps: Step[],
  signal: AbortSignal,
  host: Host,
): Promise<[isFound: boolean, verdict: string]> {
  const { p99_ms, error_percent, start_rate, growth, max_rate, step_seconds } = capacity;
  let held = 0;
  const bears = () => (held === 0 ? `less than ${start_rate}` : held.toFixed(1));
  for (let rate = start_rate; rate <= max_rate; rate *= growth) {
    if (!(await crew.growFor(needsOf(capacity, rate), capacity)))
      return [
        false,
        `not found: held ${bears()} requests a second. More need over ${capacity.max_accounts} accounts: raise max_accounts, or LIMIT_SCALE of the service.`,
      ];
    const step = await runStep(capacity, crew, rate, signal);
    if (signal.aborted) return [false, `stopped: held ${bears()} requests a second`];
    if (step.sent === 0)
      throw new UsageError(`No request was sent in ${step_seconds} s. Raise step_seconds or start_rate.`);
    steps.push(step);
    host.say(
      `${rate.toFixed(1)} requests a second: p99 ${step.p99.toFixed(1)} ms, ${step.failed} failed, ${crew.accounts} accounts`,
    );
    if (step.refused > step.sent / 100)
      return [
        false,
        `not found: held ${bears()} requests a second. Then the test's own accounts were refused (429): is somebody else using them?`,
      ];
    const failed = (step.failed / step.sent) * 100;
    if (failed > error_percent)
      return [
        true,
        `bears ${bears()} requests a second. At ${rate.toFixed(1)}, ${failed.toFixed(1)} % failed. The first: ${step.fault}`,
      ];
    if (step.p99 > p99_ms) {
      if (isGeneratorLate(step, capacity))
        return [
          false,
          `not found: held ${bears()} requests a second. At ${rate.toFixed(1)} the generator is the bottleneck: it was ${(step.busy * 100).toFixed(0)} % busy, and ${step.late.toFixed(0)} ms late. Run it on a machine with more CPU.`,
        ];
      return [
        true,
        `bears ${bears()} requests a second. At ${rate.toFixed(1)}, p99 was ${step.p99.toFixed(1)} ms, above ${p99_ms} ms.`,
      ];
    }
    held = rate;
  }
  return [true, `bears ${bears()} requests a second or more: max_rate ends the test`];
}
