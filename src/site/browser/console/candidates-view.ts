import { html, nothing, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import type { Candidate, CandidateState } from "../../../candidates/schema.ts";
import type { DeletedCandidate, UnreadableCandidate } from "../../../candidates/row-schema.ts";
import type { App } from "./app.ts";
import { isCandidate, type List, type ListQuery, ROWS } from "./model.ts";
import { addressOf } from "./page.ts";
import { badge, charged, failureOf, given, givenLines, list, moment } from "./parts.ts";
import { clockTime, nameOf, visible, words } from "./text.ts";

const STATES: readonly CandidateState[] = ["created", "in_progress", "action_required", "completed", "withdrawn"];

const PATH = "/candidates";
/** A row shows so many of the things that its candidate waits for. */
const SHOWN_WAITS = 2;

/** The page of candidates. It reads nothing before a click. */
export function candidatesView(app: App): TemplateResult {
  const { model } = app;
  const read = model.list;
  return html`<h1 tabindex="-1">Candidates</h1>
    ${filters(app)} ${failureOf(model, PATH)}
    ${
      read === undefined
        ? html`<p class="empty">
            No candidate is read yet. A click reads up to ${ROWS} candidates, oldest change first.
          </p>`
        : html`${guard([read], () => rows(read))} ${next(app, read)}`
    }`;
}

function filters(app: App): TemplateResult {
  const query = app.model.list?.query ?? { state: "", externalId: "", hours: 0, q: "" };
  const read = () => {
    const form = document.querySelector<HTMLFormElement>("#filters");
    if (form !== null) void app.readList(queryOf(form));
  };
  // A form of several fields without a button of type submit is not submitted by Enter.
  const press = ({ key, target }: KeyboardEvent) => {
    if (key === "Enter" && target instanceof HTMLInputElement)
      document.querySelector<HTMLButtonElement>("#filters button")?.click();
  };
  return html`<form id="filters" class="filters" @keydown=${press}>
    <p>
      <label for="q">Search</label>
      <input
        id="q"
        name="q"
        type="search"
        maxlength="100"
        autocomplete="off"
        spellcheck="false"
        aria-describedby="q-hint"
      />
      <span id="q-hint" class="quiet"
        >The beginning of a name, email or external id. Other filters then do not count.</span
      >
    </p>
    <p>
      <label for="state">State</label>
      <select id="state" name="state">
        <option value="">any</option>
        ${STATES.map((state) => html`<option value=${state} ?selected=${state === query.state}>${words(state)}</option>`)}
      </select>
    </p>
    <p>
      <label for="hours">Changed</label>
      <select id="hours" name="hours">
        <option value="0">at any time</option>
        <option value="1">in the last hour</option>
        <option value="24">in the last day</option>
        <option value="168">in the last week</option>
      </select>
    </p>
    <p>
      <label for="external">External id</label>
      <input id="external" name="external" autocomplete="off" spellcheck="false" />
    </p>
    ${charged(app.model, { id: "list", label: "Read candidates", surface: "list", path: PATH, run: read, primary: true })}
  </form>`;
}

function queryOf(form: HTMLFormElement): ListQuery {
  const data = new FormData(form);
  const text = (name: string) => {
    const value = data.get(name);
    return typeof value === "string" ? value : "";
  };
  return {
    state: STATES.find((state) => state === text("state")) ?? "",
    externalId: text("external"),
    hours: Number(text("hours")),
    q: text("q").trim(),
  };
}

function rows({ rows }: List): TemplateResult {
  const drawn = rows.map((row) => (isCandidate(row) ? candidateRow(row) : otherRow(row)));
  return list("candidates", drawn, "No candidate matches.");
}

function candidateRow(candidate: Candidate): TemplateResult {
  const { id, external_id, state, waiting_on, job_title, updated_at } = candidate;
  const more = waiting_on.length - SHOWN_WAITS;
  return html`<li>
    <div class="who">
      <a href=${addressOf({ kind: "candidate", id })}><bdi>${nameOf(candidate)}</bdi></a>
      <span class="quiet"
        >${job_title === null ? nothing : html`${given(job_title)} · `}<code
          >${external_id === null ? id : visible(external_id)}</code
        ></span
      >
    </div>
    ${badge(state)}
    <ul class="waits">
      ${waiting_on.slice(0, SHOWN_WAITS).map(({ message }) => html`<li>${givenLines(message)}</li>`)}
      ${more > 0 ? html`<li class="quiet">and ${more} more</li>` : nothing}
      ${waiting_on.length === 0 ? html`<li class="quiet">waits for nothing</li>` : nothing}
    </ul>
    <span class="when quiet">${moment(updated_at)}</span>
  </li>`;
}

function otherRow(row: DeletedCandidate | UnreadableCandidate): TemplateResult {
  const isDeleted = "deleted" in row;
  const text = isDeleted ? "The person is erased." : "The record is damaged. Contact support.";
  return html`<li class="deleted">
    <div class="who"><span>${isDeleted ? "Deleted" : "Unreadable"}</span> <code>${row.id}</code></div>
    <span class="badge">${isDeleted ? "deleted" : "unreadable"}</span>
    <span class="waits quiet">${text}</span>
    <span class="when quiet">${isDeleted ? moment(row.updated_at) : nothing}</span>
  </li>`;
}

/** Continues the list. At its end, the same cursor brings what has changed since. */
function next(app: App, { query, rows, hasMore, readAt }: List): TemplateResult {
  const label = hasMore ? `Read ${ROWS} more` : "Read what has changed since";
  const found = `${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
  if (query.q !== "")
    return html`<p class="quiet">
      ${found}, read at ${clockTime(readAt)}, the newest first.
      ${rows.length < ROWS ? "These are all." : "There may be more: search for more of the word."}
    </p>`;
  return html`<div class="next">
    <p class="quiet">${found}, read at ${clockTime(readAt)}. ${hasMore ? "There are more." : "These are all."}</p>
    ${charged(app.model, { id: "more", label, surface: "list", path: PATH, run: () => void app.readList() })}
  </div>`;
}
