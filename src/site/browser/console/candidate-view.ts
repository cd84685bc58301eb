import { html, nothing, type TemplateResult } from "lit-html";
import type { Candidate } from "../../../candidates/schema.ts";
import type { Document } from "../../../candidates/document-schema.ts";
import type { Reference } from "../../../candidates/reference-schema.ts";
import { words } from "../../../schema/words.ts";
import type { App, FileRequest } from "./app.ts";
import { badge, charged, type Click, failureOf, given, givenLines, list, moment, section } from "./parts.ts";
import { chased, reminders } from "./outreach-view.ts";
import { bytes, clockTime, nameOf, visible, visibleLines } from "./text.ts";

/** The page of one candidate. A candidate of the list is shown as the list brought it, at no further cost. */
export function candidateView(app: App, id: string): TemplateResult {
  const { model } = app;
  const path = `/candidates/${encodeURIComponent(id)}`;
  const held = model.candidates.get(id);
  const read = { id: "candidate", surface: "reads", path, run: () => void app.readCandidate(id) } as const;
  const back = html`<p class="back"><a href="#/candidates">All candidates</a></p>`;
  if (held === undefined)
    return html`${back}
      <h1 tabindex="-1">Candidate</h1>
      <p class="quiet">This tab does not hold the candidate <code>${visible(id)}</code>.</p>
      ${failureOf(model, path)} ${charged(model, { ...read, label: "Read the candidate", primary: true })}`;
  const { candidate, readAt } = held;
  const { documents, references } = candidate;
  const documentRows = documents.map((document) => documentRow(app, document, path));
  return html`${back}
    <h1 tabindex="-1"><bdi>${nameOf(candidate)}</bdi></h1>
    <p class="state">
      ${badge(candidate.state)} ${candidate.state_reason === null ? nothing : givenLines(candidate.state_reason)}
      <span class="quiet">Version ${candidate.version}, read at ${clockTime(readAt)}.</span>
    </p>
    <div class="actions">${charged(model, { ...read, label: "Read again" })} ${packs(app, id, path)}</div>
    ${failureOf(model, path, `${path}/pack?format=pdf`, `${path}/pack?format=zip`)}
    ${section("waits", "Waiting on", waits(candidate))}
    ${section("reminders", "Reminders", reminders(app, candidate, path))}
    ${section("fields", "Fields", fields(candidate))}
    ${section("documents", counted("Documents", documents), list("items", documentRows, "No document is asked for."))}
    ${section("references", counted("References", references), list("items", references.map(referenceRow), "No reference is asked for."))}`;
}

function packs(app: App, id: string, path: string): TemplateResult[] {
  return (["pdf", "zip"] as const).map((format) =>
    file(app, {
      id: `pack-${format}`,
      label: `Prepare the pack as ${format.toUpperCase()}`,
      surface: "pack",
      path: `${path}/pack?format=${format}`,
      filename: `compliance-pack-${id}.${format}`,
      opens: format === "pdf",
    }),
  );
}

type FileClick = Omit<Click, "run" | "primary"> & FileRequest;

/** A button that reads a file; once it is read, links to open and to save it, which cost nothing. */
function file(app: App, click: FileClick): TemplateResult {
  const { path, filename, opens } = click;
  const saved = app.model.files.get(path);
  if (saved === undefined) return charged(app.model, { ...click, run: () => void app.readFile(click) });
  return html`<span class="charged saved">
    ${opens ? html`<a class="button" href=${saved.url} target="_blank" rel="noopener">Open ${kindOf(filename)}</a>` : nothing}
    <a class="button" href=${saved.url} download=${filename}>Save ${kindOf(filename)}</a>
    <span class="cost">${bytes(saved.size)}, at no further cost.</span>
  </span>`;
}

function kindOf(filename: string): string {
  return /\.(pdf|zip)$/.exec(filename)?.[1]?.toUpperCase() ?? "the file";
}

function waits({ waiting_on }: Candidate): TemplateResult {
  const rows = waiting_on.map(({ message }) => html`<li>${givenLines(message)}</li>`);
  return list("waits", rows, "Nothing. The candidate waits for no document and no reference.");
}

type Row = [name: string, value: TemplateResult | string];

/** Fields that the client sent as text. */
const GIVEN_FIELDS = words("external_id name first_name last_name email language phone job_title start_date");

function fields(candidate: Candidate): TemplateResult {
  const { reference_requirements: needs, metadata } = candidate;
  const rows: Row[] = [
    ["id", html`<code>${candidate.id}</code>`],
    ...GIVEN_FIELDS.map((name): Row => [name, given(candidate[name])]),
    ["references", `${needs.received} of ${needs.required} received, ${needs.outstanding} outstanding`],
    ["withdrawn", candidate.withdrawn ? html`yes: ${givenLines(candidate.withdrawal_reason)}` : "no"],
    ...(["created_at", "started_at", "updated_at"] as const).map((name): Row => [name, moment(candidate[name])]),
    ...Object.entries(metadata).map(([name, value]): Row => [`metadata.${name}`, givenLines(value)]),
  ];
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt><bdi>${visible(name)}</bdi></dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

function counted(title: string, { length }: readonly unknown[]): TemplateResult {
  return html`${title} <span class="quiet">${length}</span>`;
}

function documentRow(app: App, document: Document, path: string): TemplateResult {
  const { id, name, state, required, rejection_reason, expires_on, content, updated_at, chase } = document;
  const contentPath = `${path}/documents/${id}/content`;
  const filename = content?.filename ?? id;
  return html`<li>
    <h3><bdi>${visible(name)}</bdi></h3>
    <p class="state">
      ${badge(state)} ${required ? nothing : "optional"}
      ${rejection_reason === null ? nothing : givenLines(rejection_reason)}
      ${expires_on === null ? nothing : html`expires on ${expires_on}`}
      <span class="quiet">changed ${moment(updated_at)}</span>
    </p>
    ${chased(chase)}
    ${
      content === null
        ? html`<p class="quiet">The service holds no file.</p>`
        : html`<p class="quiet">
              <bdi>${visible(filename)}</bdi> · ${given(content.content_type)} · ${bytes(content.size)}
            </p>
            ${file(app, { id, label: "Read the file", surface: "reads", path: contentPath, filename, opens: false })}
            ${failureOf(app.model, contentPath)}`
    }
  </li>`;
}

function referenceRow(reference: Reference): TemplateResult {
  const { id, name, email, phone, company, job_title, relationship } = reference;
  const { state, response, requested_at, received_at, chase } = reference;
  const facts = [job_title, company, relationship, email, phone].filter((fact) => fact !== null);
  return html`<li>
    <h3><bdi>${visible(name ?? email ?? id)}</bdi></h3>
    <p class="state">
      ${badge(state)}
      <span class="quiet">requested ${moment(requested_at)}, received ${moment(received_at)}</span>
    </p>
    ${chased(chase)}
    <p class="quiet">
      ${facts.length === 0 ? "Nothing is known about the referee." : facts.map((fact, index) => [index > 0 ? " · " : "", given(fact)])}
    </p>
    ${
      response === null
        ? nothing
        : html`<details>
            <summary>Response</summary>
            <pre tabindex="0">${visibleLines(withLines(JSON.stringify(response, null, 2)))}</pre>
          </details>`
    }
  </li>`;
}

/** Returns JSON for a person: line ends in its texts are line ends. */
function withLines(json: string): string {
  return json.replace(/\\(?:r\\n|.)/g, (escaped) => (escaped.endsWith("n") ? "\n" : escaped));
}
