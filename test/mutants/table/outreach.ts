import { changesOf, type Mutant } from "../mutant.ts";

const PLAN = ["test/outreach/plan.test.ts"];
const plan = changesOf("src/candidates/chase.ts", PLAN);
const edit = changesOf("src/candidates/chase-edits.ts", PLAN);
const planned = changesOf("src/candidates/planned.ts", PLAN);
const SENDER = ["test/outreach/chaser.test.ts"];
const FAILURES = ["test/outreach/failures.test.ts"];
const send = changesOf("src/outreach/chaser.ts", SENDER);
const queue = changesOf("src/outreach/queue.ts", ["test/outreach/queue.test.ts"]);
const pace = changesOf("src/outreach/pace.ts", ["test/outreach/pace.test.ts"]);
const size = changesOf("src/candidates/planned.ts", ["test/candidates/stored.test.ts"]);
const replan = changesOf("src/outreach/replanner.ts", ["test/outreach/replanner.test.ts"]);
const mail = changesOf("src/outreach/mailer.ts", ["test/outreach/mailer.test.ts"]);
const visit = changesOf("src/pages/visits.ts", ["test/pages/referee.test.ts"]);
const receive = changesOf("src/pages/receive.ts", ["test/pages/candidate.test.ts"]);
const referee = changesOf("src/pages/referee-page.ts", ["test/pages/referee.test.ts"]);
const asked = changesOf("src/pages/candidate-page.ts", ["test/pages/candidate.test.ts"]);
const page = changesOf("src/pages/mount.ts", ["test/pages/candidate.test.ts"]);

/** The chase: its plan, its sender, and the pages behind its links. */
export const outreachMutants: readonly Mutant[] = [
  plan('if (facts.withdrawn) return idle("withdrawn");', ""),
  plan('facts.state === "completed" ? [] : wantsOf', "wantsOf"),
  plan("({ chase }) => chase.attempts < cap)", "({ chase }) => chase.attempts <= cap)"),
  plan("repeats !== undefined || chase.attempts < cap", "repeats !== undefined || chase.attempts <= cap"),
  plan("({ id, chase }) => chase.attempts <= cap &&", "({ id }) =>"),
  plan("Math.max(now, Math.min(...messages.map(({ at }) => at)))", "Math.min(...messages.map(({ at }) => at))"),
  plan('if (hasOptedOut(optedOut, email)) return "opted_out";', ""),
  plan('if (bounced) return "bounced";', ""),
  plan('block !== "opted_out" && (block', "(block"),
  plan("to === TO_CANDIDATE || bounced", "to === TO_CANDIDATE"),
  plan("last === undefined ? since : Date.parse(last.at) + intervalMs", "since"),
  plan("waitsForSettings: rules !== undefined", "waitsForSettings: false", ["test/outreach/replanner.test.ts"]),
  edit("attempts: repeats ? attempts : attempts + 1", "attempts: attempts + 1"),
  edit("retry_at: null,\n  };", "retry_at: repeats?.retry_at ?? null,\n  };"),
  edit("if (last?.message_id !== messageId) return record;", "if (last === null) return record;"),
  edit("filter(({ at }) => at <= Date.parse(now))", "filter(() => true)"),
  planned("Math.min(nextAt, ...lapses.map(({ at }) => at))", "nextAt"),
  planned("recipient.bounced === email", "true"),
  send(
    "if (message === undefined || record === undefined || !last) return undefined;",
    "if (message === undefined || record === undefined || !last) return undefined;\n    await this.#options.mailer.send({} as never);",
  ),
  send("message === undefined ? replanned(lapsed(before, plan.lapses, at), rules, at) : before", "before"),
  send("this.#outages === 0", "true", FAILURES),
  send('kind === "outage" ? backOffMs : ', "", FAILURES),
  send('kind === "bounced" || (kind === "deferred" && refusals >= MAX_REFUSALS)', 'kind === "bounced"', FAILURES),
  send('(kind === "deferred" ? 1 : 0)', "1", FAILURES),
  send("if (found === null || isTombstone(found)) await stores.removeAll(key);", "", FAILURES),
  send("if (isGone(error)) return undefined;", "", FAILURES),
  send("this.#running.catch(() => undefined), ", "", FAILURES),
  send("({ to, email }) => to === due.to && email === due.email", "() => true"),
  edit("repeats?.address === address ? repeats.refusals : 0", "repeats?.refusals ?? 0", FAILURES),
  queue("keys.length >= SHARE", "keys.length > PAGE"),
  queue("(list) => list.slice(n, n + 1)", "(list) => (n === 0 ? list : [])"),
  queue("if (found.length < PAGE) this.#served.clear(); // nobody else waits", ""),
  pace("this.#latest + this.#gapMs", "this.#latest"),
  pace("Math.max(now, this.#latest + this.#gapMs)", "this.#latest + this.#gapMs"),
  size("outreach: NO_OUTREACH,", ""),
  size("({ ...document, chase: NEVER_CHASED })", "document"),
  send("if (this.#isPaused()) return false;", "", FAILURES),
  replan("clock.now() > Date.parse(changedAt) + SETTLED_MS", "true"),
  replan("await plans.noteRules(key, record.version, rules.version);\n        return false;", ""),
  mail('begun ? "unconfirmed" : "outage"', '"outage"'),
  mail('responseCode < 500 || POLICY.test(response ?? "") ? "deferred" : "bounced"', '"bounced"'),
  mail('responseCode < 500 || POLICY.test(response ?? "")', "responseCode < 500"),
  mail("(?!\\d\\.\\d).*", ".*"),
  mail('if (NOT_LOGGED_IN.has(responseCode)) return { ...answer, kind: "outage" };', ""),
  mail('forceAuth: new URL(url).username !== "",', ""),
  mail('if (command !== "RCPT TO" && command !== "DATA") return { ...answer, kind: "outage" };', ""),
  mail("maxRequeues: 0, // the sender decides what is sent again", "maxRequeues: 5,"),
  visit(": OPEN_TO_REFEREE.has(reference.state)", ": true"),
  visit("hashOfAddress(email) !== link.address", "false", ["test/pages/candidate.test.ts"]),
  visit('record.state !== "completed"', "true", ["test/pages/candidate.test.ts"]),
  visit(" || hasStopped(visit)", ""),
  visit('kind === "candidate" ? link.to !== TO_CANDIDATE : reference === undefined', "false", [
    "test/pages/candidate.test.ts",
  ]),
  visit('failedGuess: "not_found" ', 'failedGuess: "api_key_invalid" ', ["test/pages/guesses.test.ts"]),
  receive("|| !isAskedOfCandidate(document.state)", ""),
  receive("received, asked)", "received, () => undefined)"),
  receive("|| !isSame ", ""),
  referee("update(question)", 'update("")'),
  page("!known.has(name) && ", "", ["test/pages/referee.test.ts"]),
  page("Object.keys(fields).some(", "[].some(", ["test/pages/referee.test.ts"]),
  asked("open.slice(0, MAX_ASKED)", "open"),
  page('"Referrer-Policy": "no-referrer",', ""),
];
