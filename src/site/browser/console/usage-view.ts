import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { UsageReport } from "../../../usage/schema.ts";
import { moment, section } from "./parts.ts";
import { count } from "./text.ts";

const HOUR_MS = 3_600_000;

/** The account's last 24 hours: in words, and as a bar for each hour. */
export function usageSection(usage: UsageReport | undefined): TemplateResult | typeof nothing {
  if (usage === undefined) return nothing;
  const { from, to, data } = usage;
  const first = Date.parse(from);
  const hours = Array.from({ length: 1 + (Date.parse(to) - first) / HOUR_MS }, (_, index) => {
    const start = new Date(first + index * HOUR_MS).toISOString();
    const rows = data.filter(({ hour }) => hour === start);
    return { start, used: sum("used", rows), refused: sum("refused", rows) };
  });
  const worst = hours.reduce((one, other) => (other.refused > one.refused ? other : one));
  const refused = sum("refused", data);
  const refusals =
    refused === 0
      ? "none was refused (429)."
      : html`${count(refused)} were refused (429), most of them at ${moment(worst.start)}.`;
  // The highest bar fills the height. Any request shows.
  const most = Math.max(1, ...hours.map((hour) => hour.used + hour.refused));
  const heightOf = (requests: number) => (requests === 0 ? 0 : Math.max(2, (98 * requests) / most));
  const bars = hours.map((hour, index) => {
    const [below, above] = [heightOf(hour.used), heightOf(hour.refused)];
    return svg`<rect class="key-0" x=${10 * index} y=${100 - below} width="8" height=${below}></rect
      ><rect class="fault" x=${10 * index} y=${100 - below - above} width="8" height=${above}></rect>`;
  });
  return section(
    "usage",
    "Last 24 hours",
    html`<p class="quiet">
        <span class="swatch key-0"></span> ${count(sum("used", data))} requests were admitted, and
        <span class="swatch fault"></span> ${refusals}
      </p>
      <svg class="hours" viewBox="0 0 ${10 * hours.length} 100" preserveAspectRatio="none" aria-hidden="true">
        ${bars}
      </svg>`,
  );
}

function sum(what: "used" | "refused", rows: UsageReport["data"]): number {
  return rows.reduce((total, row) => total + row[what], 0);
}
