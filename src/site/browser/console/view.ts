import { html, nothing, type TemplateResult } from "lit-html";
import type { App } from "./app.ts";
import { candidatesView } from "./candidates-view.ts";
import { candidateView } from "./candidate-view.ts";
import { keyView } from "./key-view.ts";
import { limitsView } from "./limits-view.ts";
import type { Model } from "./model.ts";
import { notice, refusalNotice } from "./parts.ts";
import { ago, countdown, nameOf } from "./text.ts";
import { webhooksView } from "./webhooks-view.ts";

const VIEWS = { limits: limitsView, candidates: candidatesView, webhooks: webhooksView };
const TITLES = { limits: "Limits", candidates: "Candidates", webhooks: "Webhooks" };

export function view(app: App): TemplateResult {
  const { model } = app;
  return html`${model.keys.length === 0 ? keyView(app) : [bar(app), outage(app), page(app)]}
    <p class="unseen" role="status">${model.said}</p>`;
}

export function titleOf({ page, keys, candidates }: Model): string {
  if (keys.length === 0) return "Console";
  if (page.kind !== "candidate") return `${TITLES[page.kind]} · Console`;
  const held = candidates.get(page.id);
  return `${held === undefined ? "Candidate" : nameOf(held.candidate)} · Console`;
}

function page(app: App): TemplateResult {
  const { page } = app.model;
  return page.kind === "candidate" ? candidateView(app, page.id) : VIEWS[page.kind](app);
}

function bar(app: App): TemplateResult {
  const { model } = app;
  const limits = model.readings.get(model.keys[0] ?? "")?.limits;
  const current = (kind: string) => (kind.startsWith(model.page.kind) ? "page" : nothing);
  return html`<div class="bar-top">
    <nav aria-label="Console">
      ${Object.entries(TITLES).map(([kind, title]) => html`<a href=${`#/${kind}`} aria-current=${current(kind)}>${title}</a>`)}
    </nav>
    <p class="account">
      ${limits === undefined ? nothing : html`<span>Account <code>${limits.account_id}</code></span> <span>key <code>${limits.key_id}</code></span>`}
    </p>
    <p class=${`pulse ${model.watch.kind} ${model.watch.failure === undefined ? "" : "failing"}`}>${pulse(model)}</p>
    <button type="button" @click=${() => app.forget()}>Forget the key</button>
  </div>`;
}

function pulse({ watch, readings, keys }: Model): string {
  const now = performance.now();
  const at = readings.get(keys[0] ?? "")?.at;
  const read = at === undefined ? "" : `Read ${ago(now - at)}.`;
  if (watch.kind === "paused") return "Paused while the tab is hidden.";
  if (watch.kind === "stopped") return `Stopped. ${read}`;
  if (watch.failure === undefined) return at === undefined ? "Asking …" : `Live. ${read}`;
  return watch.kind === "polling" ? "Asking …" : `${read} Asks again in ${countdown(watch.nextAt - now)}.`;
}

function outage(app: App): TemplateResult | typeof nothing {
  const { kind, failure } = app.model.watch;
  if (failure === undefined) return nothing;
  const { result, at } = failure;
  if (result.kind === "unreachable") {
    const text = "The bars show the last response. The console goes on by itself once the service responds.";
    return notice("warn", "The service cannot be reached", text);
  }
  if (kind !== "stopped") return refusalNotice(result.refusal, at);
  return html`${refusalNotice(result.refusal, at)}
    <p class="actions"><button type="button" @click=${() => app.poll()}>Ask again (free)</button></p>`;
}
