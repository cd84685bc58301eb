import { html, nothing, type TemplateResult } from "lit-html";
import type { Surface } from "../../../limiter/surfaces.ts";
import { costOf, msToReset, requestOf } from "./limits.ts";
import type { Model } from "./model.ts";
import type { Refusal } from "./result.ts";
import { clockTime, countdown, dateTime, visible, visibleLines, words } from "./text.ts";

export interface Click {
  /** Unique on the page. */
  readonly id: string;
  readonly label: string;
  readonly surface: Surface;
  /** The path of its request; see `Model.busy`. */
  readonly path: string;
  readonly run: () => void;
  readonly primary?: boolean;
}

/** A button that sends one request, with its cost. It stays in the tab order while it cannot be clicked. */
export function charged(model: Model, { id, label, surface, path, run, primary }: Click): TemplateResult {
  const reading = model.readings.get(model.keys[0] ?? "");
  const cost = costOf(reading, surface);
  const refused = cost?.left === 0;
  const busy = model.busy === path;
  const off = refused || model.busy !== undefined;
  const again =
    refused && reading !== undefined ? ` Again in ${countdown(msToReset(reading, surface, performance.now()))}.` : "";
  const text = cost?.text ?? `Costs 1 ${requestOf(surface)}. What is left is not known.`;
  return html`<span class="charged">
    <button
      type="button"
      class=${primary ? "primary" : ""}
      data-surface=${surface}
      aria-disabled=${off ? "true" : "false"}
      aria-describedby=${`cost-${id}`}
      @click=${off ? nothing : run}
    >
      ${!busy ? label : surface === "settings" ? "Sending …" : "Reading …"}
    </button>
    <span id=${`cost-${id}`} class=${refused ? "cost spent" : "cost"}>${text}${again}</span>
  </span>`;
}

/** The last click's failure, if it was of one of these paths. */
export function failureOf({ failure }: Model, ...paths: readonly string[]): TemplateResult | typeof nothing {
  if (failure === undefined || !paths.includes(failure.path)) return nothing;
  const { result, at } = failure;
  if (result.kind === "refused") return refusalNotice(result.refusal, at);
  const text = "No response came. The request may have been charged. Check the network, then try again.";
  return notice("bad", "The service cannot be reached", text);
}

/** A problem of the API in its own words, and until when it lasts. */
export function refusalNotice(refusal: Refusal, at: Date): TemplateResult {
  const { title, detail, code, requestId, retryAfter } = refusal;
  const until = retryAfter === undefined ? undefined : new Date(at.getTime() + retryAfter * 1000);
  return notice(
    refusal.status === 429 || refusal.status === 503 ? "warn" : "bad",
    title,
    html`${visible(detail)}
      ${until === undefined ? nothing : html`Refused until <time datetime=${until.toISOString()}>${clockTime(until)}</time>.`}
      <a href=${`/docs#${code}`}>What to do about ${code}</a
      >${requestId === "" ? nothing : html` · <code>${requestId}</code>`}`,
  );
}

export function notice(kind: "bad" | "warn" | "quiet", title: string, text: TemplateResult | string): TemplateResult {
  return html`<div class=${`notice ${kind}`}>
    <strong>${title}</strong>
    <p>${text}</p>
  </div>`;
}

/** The state of a candidate, a document or a reference. The colour only repeats the word. */
export function badge(state: string): TemplateResult {
  return html`<span class=${`badge ${state}`}>${words(state)}</span>`;
}

/** A timestamp of the API, in the reader's time zone. */
export function moment(timestamp: string | null): TemplateResult | string {
  if (timestamp === null) return "–";
  const time = new Date(timestamp);
  return html`<time datetime=${timestamp} title=${timestamp}>${dateTime(time)}</time>`;
}

/** Shows a text that somebody sent: never as HTML, and in its own writing direction. */
export function given(text: string | null): TemplateResult | string {
  return text === null || text === "" ? "–" : html`<bdi>${visible(text)}</bdi>`;
}

/** Shows a text of several lines that somebody sent. */
export function givenLines(text: string | null): TemplateResult | string {
  return text === null || text === "" ? "–" : html`<bdi class="lines">${visibleLines(text)}</bdi>`;
}

export function section(id: string, title: TemplateResult | string, content: unknown): TemplateResult {
  return html`<section aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${content}
  </section>`;
}

/** @param none stands for an empty list. */
export function list(name: string, rows: readonly TemplateResult[], none?: TemplateResult | string): TemplateResult {
  if (rows.length === 0 && none !== undefined) return html`<p class="empty">${none}</p>`;
  return html`<ul class=${name}>
    ${rows}
  </ul>`;
}
