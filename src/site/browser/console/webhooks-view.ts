import { html, nothing, type TemplateResult } from "lit-html";
import type { Webhook } from "../../../webhooks/schema.ts";
import type { App } from "./app.ts";
import { badge, charged, failureOf, given, list, moment } from "./parts.ts";
import { clockTime, words } from "./text.ts";
import { outcomeOf, REASONS } from "./webhooks.ts";

/** The page of webhooks. It reads nothing before a click. */
export function webhooksView(app: App): TemplateResult {
  const { model } = app;
  const read = { id: "webhooks", label: "Read webhooks", surface: "reads", path: "/webhooks", primary: true } as const;
  const rows = model.webhooks?.map((webhook) => row(app, webhook));
  const none = html`The account has no webhook: <a href="/docs/nudges">what webhooks do, and how to create one</a>.`;
  return html`<h1 tabindex="-1">Webhooks</h1>
    <p class="quiet">A test nudge also costs up to 5 reads: the console looks until there is a result.</p>
    ${failureOf(model, read.path)}
    <div class="actions">${charged(model, { ...read, run: () => void app.readWebhooks() })}</div>
    ${
      rows &&
      html`<p class="quiet">The list was read at ${clockTime(model.webhooksReadAt)}.</p>
        ${list("items", rows, none)}`
    }`;
}

function row(app: App, webhook: Webhook): TemplateResult {
  const { id, url, description, states, disabled_reason: reason, last_delivery: last } = webhook;
  const test = { id, label: "Send a test nudge", surface: "settings", path: `/webhooks/${id}` } as const;
  const { tested } = app.model;
  const off = reason === null ? nothing : html`<span>since ${moment(webhook.disabled_at)}: ${REASONS[reason]}.</span>`;
  const told = states === null ? "every change" : `changes to the states ${states.map(words).join(", ")}`;
  return html`<li>
    <h2 title=${url}>${given(url.length > 80 ? `${url.slice(0, 60)}…${url.slice(-19)}` : url)}</h2>
    <p class="state">${badge(reason === null ? "enabled" : "disabled")} ${off}</p>
    ${description === null ? nothing : html`<p>${given(description)}</p>`}
    <p class="quiet"><code>${id}</code> asks for nudges at ${told}.</p>
    <p>
      Last delivery: ${last === null ? "none yet." : html`${moment(last.at)}, ${outcomeOf(last)}`}
      ${webhook.next_attempt_at === null ? nothing : html`Next attempt: ${moment(webhook.next_attempt_at)}.`}
    </p>
    ${tested?.id === id ? html`<p><strong>${tested.text}</strong></p>` : nothing} ${failureOf(app.model, test.path)}
    ${charged(app.model, { ...test, run: () => void app.testWebhook(id) })}
  </li>`;
}
