import { html, nothing, type TemplateResult } from "lit-html";
import type { Chase, OutreachReason } from "../../../candidates/document-schema.ts";
import type { Candidate } from "../../../candidates/schema.ts";
import type { CandidateOutreach } from "../../../reminders/history-schema.ts";
import type { App } from "./app.ts";
import { charged, failureOf, given, list, moment } from "./parts.ts";
import { count, nameOf, visible } from "./text.ts";

/** Why no reminder goes out, or why it waits. */
const REASONS: Readonly<Record<OutreachReason, string>> = {
  withdrawn: "The candidate is withdrawn.",
  not_started: "The candidate is not started.",
  nothing_outstanding: "Nobody is asked for anything.",
  disabled: "Reminders are off for the candidate, in the settings, for the account or for the service.",
  quiet_hours: "The quiet hours never end.",
  no_email: "There is no email address to write to.",
  opted_out: "The person asked for no more messages.",
  bounced: "The address does not accept mail.",
  cap_reached: "As many reminders went out as are allowed.",
  mail_limit: "The messages of the day are used up. The reminder waits for the next day.",
  restored: "It was due before the service was restored from a backup, and waits for the operator.",
};

type Message = CandidateOutreach["messages"][number];

const OUTCOMES: Readonly<Record<Message["outcome"], string>> = {
  sent: "accepted by the mail server",
  deferred: "refused for the moment, will be tried again",
  bounced: "refused: the address does not accept mail",
  outage: "not sent: the mail server could not be used, will be tried again",
  unconfirmed: "perhaps sent: the connection broke before the mail server answered",
};

/** The reminders of a candidate: next and last, and, after a click, the messages sent. */
export function reminders(app: App, candidate: Candidate, path: string): TemplateResult {
  const { outreach, outreach_enabled, documents, references } = candidate;
  const times = [...documents, ...references].flatMap(({ chase }) => chase.last_at ?? []);
  const last = times.toSorted().at(-1);
  const history = app.model.histories.get(candidate.id);
  const outreachPath = `${path}/outreach`;
  const read = () => void app.readOutreach(candidate.id);
  const label = history === undefined ? "Read the messages sent" : "Read the messages again";
  return html`<p>
      Next ${outreach.next_at === null ? "none" : moment(outreach.next_at)}, last
      ${last === undefined ? "none" : moment(last)}. ${outreach.reason === null ? nothing : REASONS[outreach.reason]}
      ${outreach_enabled ? nothing : "They are turned off for this candidate."}
    </p>
    ${history === undefined ? nothing : list("items", history.messages.map(messageRow(candidate)), "No message was sent.")}
    ${failureOf(app.model, outreachPath)}
    ${charged(app.model, { id: "outreach", label, surface: "reads", path: outreachPath, run: read })}`;
}

function messageRow(candidate: Candidate): (message: Message) => TemplateResult {
  return ({ to, subject, at, outcome, tries }) =>
    html`<li>
      <h3>${subject === null ? "A message without a stored subject" : given(subject)}</h3>
      <p class="quiet">
        To ${recipient(candidate, to)}, ${moment(at)}: ${OUTCOMES[outcome]}${tries > 1 ? ` (try ${tries})` : nothing}
      </p>
    </li>`;
}

function recipient(candidate: Candidate, to: string): TemplateResult | string {
  if (to === "candidate") return html`<bdi>${nameOf(candidate)}</bdi>`;
  const referee = candidate.references.find(({ id }) => id === to);
  return referee === undefined
    ? "a referee who was removed"
    : html`<bdi>${visible(referee.name ?? referee.email ?? to)}</bdi>`;
}

/** What was sent about a document or to a referee, and what comes next. */
export function chased({ attempts, last_at, next_at = null, reason = null }: Chase): TemplateResult {
  return html`<p class="quiet">
    ${attempts === 1 ? "1 reminder" : `${count(attempts)} reminders`}${last_at === null ? nothing : html`, last ${moment(last_at)}`}${next_at === null ? nothing : html`, next ${moment(next_at)}`}.
    ${reason === null ? nothing : REASONS[reason]}
  </p>`;
}
