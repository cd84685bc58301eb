import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";

/** A recording rule or an alert. */
export interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface RuleGroup {
  name: string;
  interval?: string;
  rules: Rule[];
}

const CUSTOM_RESOURCE = fileURLToPath(
  new URL("../../../k8s/components/monitoring/prometheus-rule.yaml", import.meta.url),
);
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Reads the groups of rules that the cluster gets. */
export function readGroups(): RuleGroup[] {
  const { spec } = parse(readFileSync(CUSTOM_RESOURCE, "utf8")) as { spec: { groups: RuleGroup[] } };
  return spec.groups;
}

/** Returns the alerts among the rules. */
export function alertsIn(groups: readonly RuleGroup[]): (Rule & { alert: string })[] {
  return groups.flatMap(({ rules }) => rules).filter((rule): rule is Rule & { alert: string } => "alert" in rule);
}

/** Returns a file of rules as Prometheus and promtool read it. */
export function ruleFile(groups: readonly RuleGroup[]): string {
  return stringify({ groups });
}

/**
 * Returns the same rules with every duration divided by `times`: ranges, steps of subqueries, `for`, intervals, and the
 * seconds that an age is compared with (`time() - … > 3600`).
 */
export function faster(groups: readonly RuleGroup[], times: number): RuleGroup[] {
  const shorter = (duration: string) => divided(duration, times);
  return groups.map(({ name, interval, rules }) => ({
    name,
    ...(interval === undefined ? {} : { interval: shorter(interval) }),
    rules: rules.map((rule) => ({
      ...rule,
      expr: rule.expr
        .replace(/\[[^\]]+\]/g, (range) => range.replace(/\d+[smhd]/g, shorter))
        .replace(/(?<=^time\(\) - [^]* > )\d+$/, (seconds) => `${Number(seconds) / times}`),
      ...(rule.for === undefined ? {} : { for: shorter(rule.for) }),
    })),
  }));
}

function divided(duration: string, times: number): string {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  if (count === undefined || unit === undefined) throw new Error(`${duration} is not a duration like 5m.`);
  return `${Math.round((Number(count) * SECONDS[unit as keyof typeof SECONDS] * 1000) / times)}ms`;
}
