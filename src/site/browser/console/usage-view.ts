import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { UsageReport } from "../../../usage/schema.ts";
import { HOUR_MS, type Sum, sumOf } from "../../../usage/sum.ts";
import { moment, section } from "./parts.ts";
import { count, shortId } from "./text.ts";

/** The account's last 24 hours: in words, as a bar for each hour, and as a table. */
export function usageSection(usage: UsageReport | undefined): TemplateResult | typeof nothing {
  if (usage === undefined) return nothing;
  const { from, to, data } = usage;
  const first = Date.parse(from);
  const hours = Array.from({ length: 1 + (Date.parse(to) - first) / HOUR_MS }, (_, index) => {
    const start = new Date(first + index * HOUR_MS).toISOString();
    return { start, ...sumOf(data.filter(({ hour }) => hour === start)) };
  });
  const worst = hours.reduce((one, other) => (other.refused > one.refused ? other : one));
  const { used, refused } = sumOf(hours);
  const refusals =
    refused === 0
      ? "none was refused (429)."
      : html`${count(refused)} were refused (429), most of them at ${moment(worst.start)}.`;
  const rows = data.toReversed().map((row) => {
    const key = html`<code>${shortId(row.key_id)}</code>`;
    const cells = [moment(row.hour), row.surface, key, count(row.used), count(row.refused)];
    return html`<tr>
      ${cells.map((cell) => html`<td>${cell}</td>`)}
    </tr>`;
  });
  return section(
    "usage",
    "Last 24 hours",
    html`<p class="quiet">${count(used)} requests were admitted, and ${refusals}</p>
      <svg class="hours" viewBox="0 0 ${10 * hours.length} 100" preserveAspectRatio="none" aria-hidden="true">
        ${bars(hours)}
      </svg>
      <p class="hours-ends quiet">
        <span>${moment(from)}</span><span><i class="used"></i> admitted <i class="refused"></i> refused</span
        ><span>now</span>
      </p>
      ${
        rows.length === 0
          ? nothing
          : html`<details>
              <summary>By hour, surface and key</summary>
              <div class="table" tabindex="0" role="region" aria-labelledby="usage">
                <table>
                  <thead>
                    <tr>
                      ${["Hour", "Surface", "Key", "Admitted", "Refused"].map((name) => html`<th scope="col">${name}</th>`)}
                    </tr>
                  </thead>
                  <tbody>
                    ${rows}
                  </tbody>
                </table>
              </div>
            </details>`
      }`,
  );
}

/** The highest bar fills the height. Any request shows. */
function bars(hours: readonly Sum[]): unknown[] {
  const most = Math.max(1, ...hours.map(({ used, refused }) => used + refused));
  const heightOf = (requests: number) => (requests === 0 ? 0 : Math.max(2, (98 * requests) / most));
  return hours.map(({ used, refused }, index) => {
    const [below, above] = [heightOf(used), heightOf(refused)];
    return svg`<rect class="used" x=${10 * index + 1} y=${100 - below} width="8" height=${below}></rect
      ><rect class="refused" x=${10 * index + 1} y=${100 - below - above} width="8" height=${above}></rect>`;
  });
}
