import { readFileSync } from "node:fs";
import { Temporal } from "temporal-polyfill";

/** The settings of the table's accounts. `hours` is the interval. */
export const ACCOUNTS = {
  utc: { timezone: "UTC", language: "en", hours: 48 },
  berlin: { timezone: "Europe/Berlin", language: "de", hours: 48, quiet: ["20:00", "08:00"] },
  york: { timezone: "America/New_York", language: "en", hours: 48, quiet: ["21:00", "08:00"] },
  paris: { timezone: "UTC", language: "en", hours: 48 },
  daily: { timezone: "UTC", language: "es", hours: 24 },
  monthly: { timezone: "UTC", language: "nl", hours: 720 },
} as const;

/** Changes of settings: the account, when, and what. */
export const CHANGES = [
  ["paris", "Fri 23", "12:00", { language: "fr" }],
  ["monthly", "Wed 28", "10:00", { chase_interval_hours: 168 }],
] as const;

export type AccountName = keyof typeof ACCOUNTS;

export interface Event {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly verb: string;
  readonly rest: string;
}

/** One block of the table. */
export interface Story {
  readonly name: string;
  readonly account: AccountName;
  readonly why: string;
  /** The body that creates the candidate. */
  readonly given: object;
  readonly events: readonly Event[];
  /** The messages to each person, by first name, in order: when and what. */
  readonly messages: Readonly<Record<string, readonly string[]>>;
}

const YEAR = 2026;
const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** Returns the time that an account's clocks show as `Mon 19` and `09:00`. */
export function timeOf(day: string, time: string, { timezone }: { readonly timezone: string }): number {
  const [weekday = "", date] = day.split(" ");
  const month = Number(date) >= 19 ? 10 : 11;
  const [hour, minute] = time.split(":").map(Number);
  const fields = { year: YEAR, month, day: Number(date), hour: hour ?? 0, minute: minute ?? 0, timeZone: timezone };
  const found = Temporal.ZonedDateTime.from(fields);
  if (DAYS[found.dayOfWeek - 1] !== weekday) throw new Error(`${day} is another day of the week`);
  return found.epochMilliseconds;
}

/** Returns what an account's clocks show. */
export function clockIn({ timezone }: { readonly timezone: string }, epochMs: number): string {
  const { dayOfWeek, day, hour, minute } = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timezone);
  const [hours, minutes] = [hour, minute].map((each) => String(each).padStart(2, "0"));
  return `${DAYS[dayOfWeek - 1]} ${day} ${hours}:${minutes}`;
}

export const addressOf = (local: string): string => `${local.toLowerCase()}@example.com`;

export function stories(): Story[] {
  const text = readFileSync(new URL("fortnight.txt", import.meta.url), "utf8");
  return text.trim().split("=====\n\n")[1]!.split("\n\n").map(storyOf);
}

function storyOf(block: string): Story {
  const [heading = "", options = "", ...lines] = block.split("\n");
  const { name = "", of = "", why = "" } = /^(?<name>.+?), (?<of>\w+): (?<why>.+)$/.exec(heading)?.groups ?? {};
  if (!isAccount(of)) throw new Error(`There is no account ${of}: ${heading}`);
  const events: Event[] = [];
  const messages: Record<string, string[]> = { [firstOf(name)]: [] };
  for (const line of lines) {
    const { person, heard = "" } = /^ {2}> (?<person>\w+): (?<heard>.+)$/.exec(line)?.groups ?? {};
    if (person !== undefined) (messages[person] ??= []).push(...heard.split(" | ").flatMap(eachDay));
    else events.push(eventOf(line, ACCOUNTS[of]));
  }
  if (!events.some(({ verb }) => verb === "start")) events.push(eventOf("  Mon 19 09:00 start", ACCOUNTS[of]));
  return { name, account: of, why, given: givenOf(name, options), events, messages };
}

export const firstOf = (name: string): string => name.split(" ")[0] ?? "";

function isAccount(name: string): name is AccountName {
  return name in ACCOUNTS;
}

function eventOf(line: string, account: { readonly timezone: string }): Event {
  const found = /^ {2}(?<day>\w{3} \d+) (?<time>\d\d:\d\d) (?<verb>\w+):? ?(?<rest>.*)$/.exec(line)?.groups;
  const { day = "", time = "", verb = "", rest = "" } = found ?? {};
  if (verb === "") throw new Error(`This is no event: ${line}`);
  return { at: timeOf(day, time, account), verb, rest };
}

/** Returns each of the messages that go out on several days at one time: `Wed 21, Fri 23 09:00 en again`. */
function eachDay(messages: string): string[] {
  const { days, time, what } = /^(?<days>.+?) (?<time>\d\d:\d\d) (?<what>.+)$/.exec(messages)?.groups ?? {};
  if (days === undefined) throw new Error(`This is no message: ${messages}`);
  return days.split(", ").map((day) => `${day} ${time} ${what}`);
}

/** Returns the body that creates a candidate: `docs CV, Photo (optional) · referees Hans (nl) · caps 4`. */
function givenOf(name: string, options: string): object {
  const given: Record<string, unknown> = { name, email: addressOf(firstOf(name)) };
  for (const option of options.trim().split(" · ")) {
    const [, key, value = ""] = /^(\w+) (.*)$/.exec(option) ?? [];
    if (key === "docs") given["documents"] = value === "none" ? [] : value.split(", ").map(documentOf);
    else if (key === "referees") given["references"] = value.split(", ").map(refereeOf);
    else if (key === "email") given["email"] = value === "none" ? null : addressOf(value);
    else if (key === "language") given["language"] = value;
    else if (key === "caps") {
      const [documents, references = documents] = value.split("/").map(Number);
      Object.assign(given, { docs_chase_attempts: documents, reference_chase_attempts: references });
    } else throw new Error(`This is no option: ${option}`);
  }
  return given;
}

/** Returns what comes before the note in parentheses, and the note. */
function noted(text: string): [string, string] {
  const { name = "", note = "" } = /^(?<name>[^(]+?)(?: \((?<note>.+)\))?$/.exec(text)?.groups ?? {};
  return [name, note];
}

function documentOf(text: string): object {
  const [name, note] = noted(text);
  const expires_on = /^accepted until (.+)$/.exec(note)?.[1];
  const attempts = /^asked (\d+)$/.exec(note)?.[1];
  return {
    name,
    ...(note === "optional" && { required: false }),
    ...(expires_on !== undefined && { state: "accepted", expires_on }),
    ...(attempts !== undefined && { chase: { attempts: Number(attempts), last_at: `${YEAR}-10-18T09:00:00Z` } }),
  };
}

function refereeOf(text: string): object {
  const [name, note] = noted(text);
  const at = /^at (.+)$/.exec(note)?.[1];
  const email = at === "none" ? null : addressOf(at ?? name);
  return { name, email, ...(note !== "" && at === undefined && { language: note }) };
}
