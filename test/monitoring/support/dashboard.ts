import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Target {
  expr: string;
  legendFormat: string;
}

export interface Panel {
  id: number;
  title: string;
  type: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig?: { defaults: { unit?: string } };
  targets?: Target[];
}

/** Grafana's model of a dashboard, as far as it is read here. */
export interface Dashboard {
  panels: Panel[];
  annotations: { list: { expr: string }[] };
  templating: { list: { name: string; type: string; definition?: string }[] };
}

const FILE = fileURLToPath(new URL("../../../k8s/components/monitoring/dashboard.json", import.meta.url));

export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(FILE, "utf8")) as Dashboard;
}

/**
 * Fills in the variables of a query as Grafana does, with all namespaces and Services selected. The rate interval is four scrapes.
 * @throws if a variable is left.
 */
export function filledIn(expr: string, { scrapeSeconds }: { scrapeSeconds: number }): string {
  const filled = expr
    .replaceAll("$__rate_interval", `${scrapeSeconds * 4_000}ms`)
    .replaceAll("$namespace", ".*")
    .replaceAll("$service", ".*")
    .replaceAll(/\s+/g, " ");
  if (filled.includes("$")) throw new Error(`This query has a variable that the test does not know: ${filled}`);
  return filled;
}

/** Returns whether two panels of a dashboard cover each other. */
export function overlap({ gridPos: one }: Panel, { gridPos: other }: Panel): boolean {
  const apart =
    one.x + one.w <= other.x || other.x + other.w <= one.x || one.y + one.h <= other.y || other.y + other.h <= one.y;
  return !apart;
}
