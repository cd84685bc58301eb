import { randomBytes } from "node:crypto";
import { mock } from "node:test";
import { AccountStore } from "../../src/accounts/store.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { createLog } from "../../src/infra/log.ts";
import { Metrics } from "../../src/infra/metrics.ts";
import type { Outcome } from "../../src/reminders/mailer.ts";
import type { Message } from "../../src/reminders/message.ts";
import { replan } from "../../src/reminders/replans.ts";
import { reminderSender } from "../../src/reminders/sender.ts";
import { spreadOptOuts } from "../../src/reminders/spread-opt-outs.ts";
import { openReminders, remindersOf } from "../../src/reminders/wire.ts";
import { SweepRunner } from "../../src/sweeps/runner.ts";
import { expiries } from "../../src/sweeps/sweep.ts";
import { answerOf, serversOf } from "../admin/support.ts";
import type { Answer } from "../support/client.ts";
import type { Service, TestAccount } from "../support/service.ts";
import { ACCOUNTS, addressOf, CHANGES, clockIn, type Event, firstOf, type Story, timeOf } from "./fortnight-table.ts";
import { answerQuestions, PDF, post, type Shown } from "./pages/support.ts";

const HOST = "https://hire.example.com";
const DAY = 86_400_000;
const START = Date.parse("2026-10-19T00:00:00Z");
const END = START + 14 * DAY;

/** The time that all clocks of the service show. It stands still while something happens. */
let now = START;

/** Makes every clock of the service show `now`, and keeps the service from sweeping by itself, for the suite that calls this. */
export function useHeldTime(): void {
  before(() => {
    mock.method(SharedClock.prototype, "now", () => now);
    mock.method(SweepRunner.prototype, "start", () => undefined);
  });
  after(() => mock.restoreAll());
}

/** What the sweeps of a service do, once for each call of `run`. The mail server takes what `deliver` does not refuse. */
async function sweepsOf({ config, operators: { mongo } }: Service, deliver: (message: Message) => Outcome) {
  const clock = new SharedClock();
  const restore = { restored: () => undefined };
  const accounts = new AccountStore(mongo);
  const reminders = await openReminders({ config, mongo, clock, accounts, restore, random: randomBytes });
  const candidates = new CandidateStore(mongo, clock, remindersOf(reminders));
  const sender = reminderSender({
    ...reminders,
    candidates,
    log: createLog("silent"),
    metrics: new Metrics(),
    connections: 10,
    mailer: {
      send: (message) => Promise.resolve(deliver(message)),
      fault: () => Promise.resolve(undefined),
      close: () => undefined,
    },
    mailFrom: config.MAIL_FROM,
    publicUrl: HOST,
    newMessageId: () => newTypeId("req"),
    newPace: () => ({ turn: ({ aborted }) => Promise.resolve(!aborted) }),
  });
  const { signal } = new AbortController();
  return async () => {
    await expiries(candidates.batches, clock).run(signal);
    await replan({ ...reminders, candidates }, signal);
    await spreadOptOuts({ ...reminders, candidates }, signal);
    await sender.run(signal);
  };
}

/** One candidate, as the story goes on. */
class Life {
  readonly messages: Record<string, string[]> = {};
  /** What the requests for a reminder were answered, in order: empty if it was accepted. */
  readonly reminds: string[] = [];
  readonly story: Story;
  readonly #service: Service;
  readonly #account: TestAccount;
  /** The page that the latest message to each person leads to. */
  readonly #links = new Map<string, string>();
  #path = "";

  constructor(story: Story, service: Service, account: TestAccount) {
    this.story = story;
    this.#service = service;
    this.#account = account;
    for (const person of Object.keys(story.messages)) this.messages[person] = [];
  }

  async create(): Promise<void> {
    const { id } = done(await this.#account.client.post("/candidates", this.story.given)).body;
    this.#path = `/candidates/${id}`;
  }

  /** Takes a message to one of the story's people. */
  take(message: Message, at: string): void {
    const { name, address } = message.to;
    const person = firstOf(name);
    const where = address === addressOf(person) ? "" : ` at ${address.replace("@example.com", "")}`;
    (this.messages[person] ??= []).push(`${at} ${described(message, where)}`);
    this.#links.set(person, this.#service.url + message.text.split(HOST)[1]?.split("\n")[0]);
  }

  async happen({ verb, rest }: Event): Promise<void> {
    const { client, id: accountId } = this.#account;
    const path = this.#path;
    const [name = "", reason] = rest.split(": ");
    const [local = "", person] = rest.split(" for ");
    const linkOf = (whose: string) => this.#links.get(whose) ?? "";
    const requests: Record<string, () => Promise<Answer | Shown>> = {
      start: () => client.post(`${path}/start`),
      add: () => client.post(`${path}/documents`, { name }),
      refer: () => client.post(`${path}/references`, { name, email: addressOf(name) }),
      email: async () => client.patch(person ? await this.#pathOf(person) : path, { email: addressOf(local) }),
      language: () => client.patch(path, { language: rest }),
      withdraw: () => client.patch(path, { withdrawn: true }),
      reinstate: () => client.patch(path, { withdrawn: false }),
      on: () => client.patch(`${path}/outreach`, { outreach_enabled: true }),
      off: () => client.patch(`${path}/outreach`, { outreach_enabled: false }),
      caps: () => client.patch(`${path}/outreach`, { docs_chase_attempts: Number(rest) }),
      upload: async () =>
        post((await this.#pathOf(name)).replace(path, linkOf(firstOf(this.story.name))), { content: PDF() }),
      answer: () => answerQuestions(linkOf(name), { 0: "For two years." }),
      decline: () => post(`${linkOf(name)}/decline`),
      stop: () => post(`${linkOf(name)}/stop`),
    };
    if (verb === "allow") {
      const words = ["outreach", "allow", "--account", accountId, "--address", addressOf(name)];
      await answerOf(words, serversOf(this.#service.config));
    } else if (verb === "remind") {
      const { status, body } = await client.post(`${path}/outreach/remind`);
      this.reminds.push(status === 200 ? "" : [body.code, body.reason].filter(Boolean).join(", "));
    } else {
      const change = { state: verb, ...(reason !== undefined && { rejection_reason: reason }) };
      done(await (requests[verb] ?? (async () => client.patch(await this.#pathOf(name), change)))());
    }
  }

  /** Returns the path of a document or a reference. */
  async #pathOf(name: string): Promise<string> {
    const { documents, references } = done(await this.#account.client.get(this.#path)).body;
    const document = documents.find((each) => each.name === name);
    return document
      ? `${this.#path}/documents/${document.id}`
      : `/references/${references.find((each) => each.name === name)?.id}`;
  }
}

function done<Response extends Answer | Shown>(response: Response): Response {
  if (response.status >= 400) throw new Error(`${response.status}: ${JSON.stringify(response)}`);
  return response;
}

/** Describes a message as the table does: its language, its kind, its address unless it is the usual one, and its documents. */
function described({ subject, text, language }: Message, given: string): string {
  const paragraphs = text.split("\n\n");
  const list = paragraphs.findIndex((each) => each.startsWith("- "));
  const isAgain = /^(Reminder|Erinnerung|Rappel|Recordatorio|Herinnering)\s*:/.test(subject);
  const listed = paragraphs[list]?.replaceAll(/^- /gm, "").replaceAll("\n", ", ") ?? "";
  // The message begins with a greeting. If something changed, the second paragraph says what. The question follows.
  const news = list === 3 ? (paragraphs[1]?.replaceAll("\n", " + ") ?? "") : "";
  const kind = [isAgain && "again", news && "news"].filter(Boolean).join(" ") || "first";
  return `${language} ${kind}${given}${listed && ": "}${news && `${news} → `}${listed}`;
}

/** Lives through the fortnight. Returns what came of each story, and messages that belong to none. */
export async function liveThrough(stories: readonly Story[], service: Service) {
  const accounts = new Map<string, TestAccount>();
  const settings = (of: string, path: string, change: object) =>
    accounts.get(of)!.client.patch(`/settings/${path}`, change);
  for (const [name, { timezone, language, hours, ...more }] of Object.entries(ACCOUNTS)) {
    accounts.set(name, await service.account());
    done(await settings(name, "assistant", { language, chase_interval_hours: hours }));
    if (!("quiet" in more)) continue;
    const [start, end] = more.quiet;
    done(await settings(name, "quiet-hours", { enabled: true, timezone, start, end }));
  }
  const lives = stories.map((story) => new Life(story, service, accounts.get(story.account)!));
  for (const life of lives) await life.create();

  const events = [
    ...lives.flatMap((life) => life.story.events.map((event) => ({ at: event.at, happen: () => life.happen(event) }))),
    ...CHANGES.map(([name, day, time, change]) => ({
      at: timeOf(day, time, ACCOUNTS[name]),
      happen: async () => void done(await settings(name, "assistant", change)),
    })),
    ...Array.from({ length: 15 }, (_, n) => ({ at: START + n * DAY, happen: () => Promise.resolve() })), // documents expire
  ].toSorted((one, other) => one.at - other.at);

  const strays: string[] = [];
  let slow = 0;
  /** Refuses addresses of `.gone` for good, and those of `.slow` twice. */
  const deliver = (message: Message): Outcome => {
    const { name, address } = message.to;
    if (address.includes(".gone@")) return { kind: "bounced", code: "550" };
    if (address.includes(".slow@") && ++slow <= 2) return { kind: "deferred", code: "451" };
    const life = lives.find(({ story }) => story.name === name || message.subject.includes(story.name));
    if (life === undefined) strays.push(`${name}: ${message.subject}`);
    else life.take(message, clockIn(ACCOUNTS[life.story.account], now));
    return { kind: "sent", code: "250" };
  };
  const sweep = await sweepsOf(service, deliver);
  const candidates = service.operators.mongo.db.collection<{ outreach?: { look_at?: string } }>("candidates");
  const planned = () =>
    candidates
      .find({ "outreach.look_at": { $gt: "" } })
      .sort({ "outreach.look_at": 1 })
      .limit(1)
      .next();
  for (let steps = 0; steps < 1_000; steps++) {
    const lookAt = Date.parse((await planned())?.outreach?.look_at ?? "") || Infinity;
    const next = Math.min(lookAt, events[0]?.at ?? Infinity);
    if (next >= END) break;
    now = Math.max(now, next);
    while ((events[0]?.at ?? Infinity) <= now) await events.shift()?.happen();
    await sweep();
  }
  return { outcomes: new Map(lives.map((life) => [life.story.name, life])), strays };
}
