import type { Mutant } from "../mutant.ts";

const UNIT = ["test/limiter/refusal-cache.test.ts"];
const MODEL = ["test/limiter/refusal-cache-model.test.ts"];

/** A change of the cache, found by the tests of its rules or by the comparison with a model of Redis. */
const row = (before: string, after: string, red = UNIT): Mutant => ({
  file: "src/limiter/refusal-cache.ts",
  before,
  after,
  red,
});

/** What keeps a replica from repeating a refusal that Redis would not give any more. */
export const refusalCacheMutants: Mutant[] = [
  row("ACCOUNT_REFUSAL_MS = 1_000;", "ACCOUNT_REFUSAL_MS = 1_001;"),
  row("ACCOUNT_REFUSAL_MS = 1_000;", "ACCOUNT_REFUSAL_MS = 999;"),
  row("ISSUE_WAIT_MS = ACCOUNT_REFUSAL_MS + 100;", "ISSUE_WAIT_MS = ACCOUNT_REFUSAL_MS;"),
  row("KEY_REFUSAL_MS = 100;", "KEY_REFUSAL_MS = 101;"),
  row("KEY_REFUSAL_MS = 100;", "KEY_REFUSAL_MS = 99;"),
  row("MARGIN_MS = 2;", "MARGIN_MS = 0;", MODEL),
  row("MARGIN_MS = 2;", "MARGIN_MS = 1;"),
  row("MARGIN_MS = 2;", "MARGIN_MS = 3;"),
  row("FLOOD_REFUSALS = 10;", "FLOOD_REFUSALS = 9;"),
  row("FLOOD_REFUSALS = 10;", "FLOOD_REFUSALS = 11;"),
  row("FLOOD_MS = 1_000;", "FLOOD_MS = 1_001;"),
  row("FLOOD_MS = 1_000;", "FLOOD_MS = 999;"),
  row("MAX_ENTRIES = 10_000;", "MAX_ENTRIES = 10_001;"),
  row("MAX_ENTRIES = 10_000;", "MAX_ENTRIES = 9_999;"),
  row(
    "if (!countsAsOne(request) || this.#connection.changes !== this.#changes) return",
    "if (this.#connection.changes !== this.#changes) return",
  ),
  row(
    "if (!countsAsOne(request) || this.#connection.changes !== this.#changes) return",
    "if (!countsAsOne(request)) return",
  ),
  row("known.refusals < FLOOD_REFUSALS", "known.refusals <= FLOOD_REFUSALS"),
  row(" || known.refusals < FLOOD_REFUSALS", ""),
  row("now >= known.endsAt", "now > known.endsAt"),
  row("if (now >= known.endsAt) return undefined;", ""),
  row("Math.ceil(known.decision.resetMs - (now - known.receivedAt))", "known.decision.resetMs", MODEL),
  row("Math.ceil(known", "Math.floor(known"),
  row("receivedAt: this.#timer.now()", "receivedAt: sentAt", MODEL),
  row(" || changes !== this.#connection.changes", ""),
  row("if (lifeMs === undefined || changes", "if (changes"),
  row("!countsAsOne(request) || decision", "decision", MODEL),
  row(" || decision.grantRemaining !== null", "", MODEL),
  row("decision.grantRemaining !== null", "(decision.grantRemaining ?? 0) > 0"),
  row("before === undefined || sentAt - before.since >= FLOOD_MS", "before === undefined"),
  row("sentAt - before.since >= FLOOD_MS", "sentAt - before.since > FLOOD_MS"),
  row("const endsAt = sentAt +", "const endsAt = this.#timer.now() +"),
  row("Math.min(lifeMs, decision.resetMs - MARGIN_MS)", "lifeMs"),
  row("Math.min(lifeMs, decision.resetMs - MARGIN_MS)", "decision.resetMs - MARGIN_MS"),
  row("refusals: refusals + 1, since", "refusals: refusals + 1, since: sentAt"),
  row("    if (changes !== this.#changes) this.#known.clear();\n", ""),
  row("if (changes !== this.#changes) this.#known.clear();", "this.#known.clear();"),
  row("    this.#changes = changes;\n", ""),
  row("cost = 1", "cost = 0"),
  row("`${accountId} ${keyId} ${surface}`", "`${keyId} ${surface}`"),
  row("`${accountId} ${keyId} ${surface}`", "`${accountId} ${surface}`", MODEL),
  row("`${accountId} ${keyId} ${surface}`", "`${accountId} ${keyId}`", MODEL),
  {
    file: "src/limiter/observer.ts",
    before: "    this.#metrics.repeatedRefusals.inc({ surface, scope });\n",
    after: "",
    red: ["test/limiter/observer.test.ts"],
  },
  {
    file: "src/limiter/observer.ts",
    before: "this.#metrics.decisions.inc({ surface, verdict, scope });",
    after: "",
    red: ["test/limiter/observer.test.ts"],
  },
  {
    file: "src/limiter/observer.ts",
    before: "const scope = SCOPES[verdict];",
    after: "const scope = SCOPES[verdict];\n    this.#answering = true;",
    red: ["test/limiter/observer.test.ts"],
  },
];
