import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { Surface } from "../../../limiter/surfaces.ts";
import type { App } from "./app.ts";
import { keyForm } from "./key-view.ts";
import { type Bar, barsOf, keyName, type Reading, spentBy, type SurfaceBars } from "./limits.ts";
import type { Model } from "./model.ts";
import { list, moment, notice, section } from "./parts.ts";
import { count, countdown, timeInWords } from "./text.ts";
import { usageSection } from "./usage-view.ts";

const REQUESTS: Record<Surface, string> = {
  create: "POST /candidates",
  start: "POST …/start",
  reads: "GET of one object",
  list: "GET /candidates",
  writes: "changes, uploads, deletions",
  pack: "GET …/pack",
  settings: "settings and webhooks",
};

/** The page of limits: a row of bars for each surface, the keys, and the grants. */
export function limitsView(app: App): TemplateResult {
  const { model } = app;
  const readings = model.known();
  const [own] = readings;
  const bars = barsOf(readings, performance.now());
  return html`<h1 tabindex="-1">Limits</h1>
    ${own === undefined ? waiting(model) : summary(own)} ${list("surfaces", bars.map(surfaceRow))}
    ${own === undefined ? nothing : [usageSection(model.usage), keysSection(app), grantsSection(model)]}`;
}

function waiting({ watch }: Model): TemplateResult {
  const title = watch.failure === undefined ? "Reading the limits …" : "The limits are not known";
  return notice("quiet", title, "The bars appear with the first response to GET /limits.");
}

function summary({ limits }: Reading): TemplateResult {
  const window = limits.window_seconds === 3600 ? "an hour" : timeInWords(limits.window_seconds * 1000);
  return html`<p class="quiet">
    A window is ${window}. A request is charged to the account's window and to its key's window. All windows of an
    account restart together.
  </p>`;
}

function surfaceRow({ surface, account, keys, resetMs }: SurfaceBars): TemplateResult {
  const spent = spentBy(account);
  const rest = account.level === "spent" ? " The account has none left." : "";
  return html`<li class="surface" data-surface=${surface}>
    <div class="what">
      <h2>${surface}</h2>
      <span class="quiet">${REQUESTS[surface]}</span>
    </div>
    <div class="bars">
      ${barRow(surface, account)}
      ${spent === "" ? nothing : html`<p class=${`spent-by ${account.level}`}>Spent by ${spent}.${rest}</p>`}
      ${keys.map((bar) => barRow(surface, bar))}
    </div>
    <p class="reset">
      <span>${resetMs > 0 ? "restarts in" : "restarts"}</span> <b>${resetMs > 0 ? countdown(resetMs) : "now"}</b>
    </p>
  </li>`;
}

function barRow(surface: Surface, bar: Bar): TemplateResult {
  const { label, limit, used, remaining, level } = bar;
  return html`<div class=${`bar-row ${level}`}>
    <span class="label">${label}</span>
    <div
      class="bar"
      role="meter"
      aria-label=${`${label}, ${surface} requests used`}
      aria-valuemin="0"
      aria-valuemax=${limit}
      aria-valuenow=${Math.min(used, limit)}
      aria-valuetext=${`${used} of ${limit} used`}
    >
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">${segments(bar)}</svg>
    </div>
    <span class="left"><b>${remaining === 0 ? "none" : count(remaining)}</b> left of ${count(limit)}</span>
  </div>`;
}

/** One segment for each key that spent, in hundredths of the limit. */
function segments({ limit, shares }: Bar): unknown[] {
  let x = 0;
  return shares.map(({ used, index }) => {
    const width = Math.min((100 * used) / limit, 100 - x);
    const segment = svg`<rect class=${`key-${index === undefined ? "other" : index % 5}`} x=${x} y="0" width=${width} height="10"></rect>`;
    x += width;
    return segment;
  });
}

function keysSection(app: App): TemplateResult {
  const { model } = app;
  const keys = model.keys.map((key, index) => keyRow(app, key, index));
  const form = keyForm(model.entry, {
    name: "other",
    label: "Another key of this account",
    button: "Add the key",
    help: "GET /limits tells a key what it spent itself, and what the account spent. Add the account's other keys to see what each of them spent.",
    submit: (field) => void app.add(field.value).then((added) => added && (field.value = "")),
  });
  return section("keys", "Keys", [list("keys", keys), form]);
}

function keyRow(app: App, key: string, index: number): TemplateResult {
  const limits = app.model.readings.get(key)?.limits;
  return html`<li>
    <span class=${`swatch key-${index % 5}`}></span>
    <span>${index === 0 ? "This key" : limits === undefined ? "Not read" : keyName(limits.key_id, index)}</span>
    <code>${limits?.key_id ?? "…"}</code>
    ${index === 0 ? nothing : html`<button type="button" @click=${() => app.remove(key)}>Remove</button>`}
  </li>`;
}

function grantsSection(model: Model): TemplateResult {
  const grants = model.keys.flatMap((key, index) => {
    const limits = model.readings.get(key)?.limits;
    return (limits?.grants ?? []).map((grant) => ({ ...grant, of: keyName(limits?.key_id ?? "", index) }));
  });
  const rows = grants.map(
    ({ surface, of, remaining, amount, expires_at, id }) =>
      html`<li>
        <span><b>${surface}</b> for ${of}</span>
        <span><b>${count(remaining)}</b> left of ${count(amount)}</span>
        <span>until ${moment(expires_at)}</span>
        <code>${id}</code>
      </li>`,
  );
  const none = "No grant is live. For a backfill larger than the limits, contact support first.";
  return section(
    "grants",
    "Grants",
    html`<p class="quiet">
        A grant gives one key more requests on one surface. It is drawn on while a window is spent.
      </p>
      ${list("grants", rows, none)}`,
  );
}
