import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { UsageReport } from "../../../usage/schema.ts";
import { moment, section } from "./parts.ts";
import { count, shortId } from "./text.ts";

const HOUR_MS = 3_600_000;

/** Requests of an hour, of all keys and surfaces together. */
interface Hour {
  readonly start: string;
  readonly used: number;
  readonly refused: number;
}

/** Returns every hour of a report, also those without requests. */
export function hoursOf({ from, to, data }: UsageReport): Hour[] {
  const length = 1 + (Date.parse(to) - Date.parse(from)) / HOUR_MS;
  return Array.from({ length }, (_, index) => {
    const start = new Date(Date.parse(from) + index * HOUR_MS).toISOString();
    const rows = data.filter(({ hour }) => hour === start);
    const sumOf = (member: "used" | "refused") => rows.reduce((sum, row) => sum + row[member], 0);
    return { start, used: sumOf("used"), refused: sumOf("refused") };
  });
}

/** The account's last 24 hours: in words, as a bar for each hour, and as a table. */
export function usageSection(usage: UsageReport | undefined): TemplateResult | typeof nothing {
  if (usage === undefined) return nothing;
  const hours = hoursOf(usage);
  const worst = hours.reduce((one, other) => (other.refused > one.refused ? other : one));
  const sumOf = (member: "used" | "refused") => hours.reduce((sum, hour) => sum + hour[member], 0);
  const refused = worst.refused === 0 ? "none was" : `${count(sumOf("refused"))} were`;
  const when = worst.refused === 0 ? "." : html`, most of them at ${moment(worst.start)}.`;
  const rows = usage.data.toReversed().map(
    (row) =>
      html`<tr>
        <td>${moment(row.hour)}</td>
        <td>${row.surface}</td>
        <td><code>${shortId(row.key_id)}</code></td>
        <td>${count(row.used)}</td>
        <td>${count(row.refused)}</td>
      </tr>`,
  );
  return section(
    "usage",
    "Last 24 hours",
    html`<p class="quiet">${count(sumOf("used"))} requests were admitted, and ${refused} refused (429)${when}</p>
      <svg class="hours" viewBox="0 0 ${10 * hours.length} 100" preserveAspectRatio="none" aria-hidden="true">
        ${bars(hours)}
      </svg>
      <p class="hours-ends quiet">
        <span>${moment(usage.from)}</span><span><i class="used"></i> admitted <i class="refused"></i> refused</span
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
function bars(hours: readonly Hour[]): unknown[] {
  const most = Math.max(1, ...hours.map(({ used, refused }) => used + refused));
  const heightOf = (requests: number) => (requests === 0 ? 0 : Math.max(2, (98 * requests) / most));
  return hours.map(({ used, refused }, index) => {
    const [below, above] = [heightOf(used), heightOf(refused)];
    return svg`<rect class="used" x=${10 * index + 1} y=${100 - below} width="8" height=${below}></rect
      ><rect class="refused" x=${10 * index + 1} y=${100 - below - above} width="8" height=${above}></rect>`;
  });
}
