import { backfill } from "./backfill.ts";
import { exactness } from "./exactness.ts";
import { type Finding, isGood } from "./judge.ts";
import type { Run } from "./run.ts";
import { smoke } from "./smoke.ts";
import { soak } from "./soak.ts";
import { stampede } from "./stampede.ts";

/** The scenarios by name. Each sends its requests and returns what it found out. */
export const SCENARIOS = { smoke, exactness, soak, stampede, backfill } as const satisfies Record<
  string,
  (run: Run) => Promise<Finding[]>
>;

export type ScenarioName = keyof typeof SCENARIOS;

export interface Report {
  /** True if everything that the scenario demands was seen. */
  readonly proved: boolean;
  readonly findings: readonly Finding[];
}

/** Runs a scenario to its end, or until its bound or a stop. @throws {UsageError} if the target does not fit it. */
export async function runScenario(name: ScenarioName, run: Run): Promise<Report> {
  const findings = await SCENARIOS[name](run);
  const { failed, firstFault } = run.tally;
  if (failed > 0) findings.push({ result: "failed", text: `${failed} answers were wrong. The first: ${firstFault}` });
  if (run.host.stopped()) findings.push({ result: "not proven", text: "The run was stopped before its end." });
  else if (run.bounded)
    findings.push({ result: "not proven", text: `The run reached its bound of ${run.settings.maxRequests} requests.` });
  return { proved: findings.length > 0 && findings.every(isGood), findings };
}

/** The findings as lines of text, the bad ones last. */
export function linesOf({ findings }: Report): string[] {
  const width = Math.max(0, ...findings.map(({ result }) => result.length));
  return findings
    .toSorted((a, b) => Number(isGood(b)) - Number(isGood(a)))
    .map(({ result, text }) => `${result.padEnd(width)}  ${text}`);
}
