import { backfill } from "./backfill.ts";
import { exactness } from "./exactness.ts";
import { type Host, UsageError } from "./host.ts";
import { type Finding, isGood } from "./judge.ts";
import { Run } from "./run.ts";
import type { Settings } from "./settings.ts";
import { smoke } from "./smoke.ts";
import { soak } from "./soak.ts";
import { stampede } from "./stampede.ts";

/** Each scenario sends its requests and returns what it found out. */
const RUNS: Readonly<Record<string, (run: Run) => Promise<Finding[]>>> = { smoke, exactness, soak, stampede, backfill };
export const SCENARIOS = Object.keys(RUNS);

const PROGRESS_MS = 5_000;

/**
 * Runs a scenario to its end, and says what it saw and found, the bad findings last.
 * @returns whether everything that it demands was seen. @throws {UsageError} if the target does not fit the scenario.
 */
export async function runScenario(name: string, settings: Settings, host: Host): Promise<boolean> {
  const scenario = RUNS[name];
  if (scenario === undefined)
    throw new UsageError(`There is no scenario "${name}". The scenarios are ${SCENARIOS.join(", ")}.`);
  const run = new Run(settings, host);
  const { tally } = run;
  const progress = setInterval(() => host.say(`${tally.sent} requests, ${tally.faults.length} failed`), PROGRESS_MS);
  const findings = await scenario(run).finally(() => clearInterval(progress));
  const { faults } = tally;
  if (faults.length > 0)
    findings.push({ result: "failed", text: `${faults.length} answers were wrong. The first: ${faults[0]}` });
  const proved = findings.length > 0 && findings.every(isGood);
  const width = Math.max(...findings.map(({ result }) => result.length));
  for (const line of tally.table()) host.say(line);
  for (const { result, text } of findings.toSorted((a, b) => Number(isGood(b)) - Number(isGood(a))))
    host.say(`${result.padEnd(width)}  ${text}`);
  host.say(proved ? `${name}: proved` : `${name}: NOT proved: the lines above say why`);
  return proved;
}
