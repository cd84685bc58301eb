import { changesOf, type Mutant } from "../mutant.ts";

const CHARGE = ["test/limiter/charge.test.ts"];
const GRANTS = ["test/limiter/charge-shown-grants.test.ts"];
const BOUNDARY = ["test/limiter/boundary.test.ts"];
const MODEL = ["test/limiter/model.test.ts"];
const REFUSALS = ["test/limiter/key-refusal.test.ts"];
const REPEATED = ["test/limiter/repeated-refusals.test.ts"];
const EPOCH = ["test/infra/redis-epoch.test.ts"];
const CHANGES = ["test/infra/connection-changes.test.ts"];

const limiter = changesOf("src/limiter/limiter.ts");
const scripts = changesOf("src/limiter/scripts.ts");
const epoch = changesOf("src/infra/redis-epoch.ts");

/** What goes to the limiter's scripts, what comes back, and what a replica keeps of it for one connection to Redis. */
export const limiterCallMutants: Mutant[] = [
  limiter("    await this.#depart();\n    const repeated", "    const repeated", REPEATED),
  limiter("if (repeated !== undefined) {", "if (repeated === null) {", REPEATED),
  limiter("      this.#observer.repeated(repeated);\n", "", REPEATED),
  limiter("          this.#refusals.keep(request, decision, sending);\n", "", REPEATED),
  limiter("keep(request, decision, sending);", "keep(request, decision, this.#refusals.sent());", REPEATED),
  limiter("accountVersion: this.#versionOf(request)", "accountVersion: request.accountVersion", REFUSALS),
  limiter("accountVersion: this.#versionOf(claim)", "accountVersion: claim.accountVersion", REFUSALS),
  limiter("return isSame ? accountVersion : NO_VERSION;", "return undefined;", REFUSALS),
  limiter("secretEndsAt,\n      showGrants", "secretEndsAt: NEVER,\n      showGrants", REFUSALS),
  limiter("      cost,\n      deadlineMs", "      cost: 1,\n      deadlineMs", CHARGE),
  limiter("showGrants: this.#shown.mayHave(request)", "showGrants: true", GRANTS),
  limiter("showGrants: this.#shown.mayHave(request)", "showGrants: false", GRANTS),
  limiter("        if (call.showGrants) this.#shown.answered(request, answer);\n", "", GRANTS),
  {
    file: "src/limiter/limiter.ts",
    before: "if (call.showGrants) this.#shown",
    after: "this.#shown",
    red: [],
    equal: "A charge shows no grants only if this is remembered of its key and version already.",
  },
  limiter('return answer.verdict !== "stale";', "return true;", ["test/limiter/skewed-masters.test.ts"]),
  limiter("Math.max(limits.account - accountUsed, 0)", "limits.account - accountUsed", BOUNDARY),
  limiter("Math.max(limits.key - keyUsed, 0)", "limits.key - keyUsed", BOUNDARY),
  limiter("grantAmount: grantAmount < 0 ? null : grantAmount,", "grantAmount,", GRANTS),
  limiter("resetMs: (window + 1) * windowSeconds", "resetMs: window * windowSeconds", BOUNDARY),
  limiter("* 1000 - nowMs,", "* 1000 - nowMs - 1,", BOUNDARY),
  scripts('    accountVersion ?? "",\n', "    accountVersion ?? 0,\n", CHARGE),
  scripts("args.push(secretEndsAt);", "args.push(NEVER);", REFUSALS),
  scripts("if (secretEndsAt !== NEVER || showGrants || cost", "if (showGrants || cost", REFUSALS),
  scripts("secretEndsAt !== NEVER || showGrants || cost !== 1)", "secretEndsAt !== NEVER || cost !== 1)", GRANTS),
  scripts("secretEndsAt !== NEVER || showGrants || cost !== 1)", "secretEndsAt !== NEVER || showGrants)", MODEL),
  scripts("  if (showGrants || cost !== 1) args", "  if (cost !== 1) args", GRANTS),
  scripts("  if (showGrants || cost !== 1) args", "  if (showGrants) args", MODEL),
  scripts("showGrants ? 1 : 0", "1", MODEL),
  scripts("showGrants ? 1 : 0", "0", MODEL),
  scripts("  if (cost !== 1) args.push(cost);\n", "", CHARGE),
  scripts('verdict === "admitted" ? cost : 0;', "cost;", CHARGE),
  scripts('verdict === "admitted" ? cost : 0;', 'verdict === "admitted" ? 1 : 0;', CHARGE),
  scripts('verdict === "admitted" ? cost : 0;', "0;", CHARGE),
  scripts("words[6] ?? -1", "words[6] ?? 0", GRANTS),
  scripts("words[7] ?? -1", "words[7] ?? 0", GRANTS),
  scripts(" + Math.floor(Number(words[5]) / 1000)", "", BOUNDARY),
  scripts('[windowSeconds, accountVersion ?? "",', "[windowSeconds, accountVersion ?? 0,", REFUSALS),
  scripts("secretEndsAt, ...fields]", "0, ...fields]", REFUSALS),
  scripts('refusal: refusal === "" ? undefined : refusal', "refusal: refusal as KeyRefusal", REFUSALS),
  scripts("used[2 * index + 1]", "used[2 * index]", MODEL),
  scripts("return answer === 1;", "return answer !== null;", ["test/grants/issue.test.ts"]),
  {
    file: "src/limiter/usage.ts",
    before: "windowSeconds, accountVersion, secretEndsAt };",
    after: "windowSeconds, accountVersion: undefined, secretEndsAt };",
    red: REFUSALS,
  },
  epoch("        this.#connections++;\n", "", EPOCH),
  epoch("        this.#changes++;\n", "", CHANGES),
  epoch('      node.on("close", () => this.#changes++);\n', "", CHANGES),
  epoch('      (redis as Cluster).nodes("all").forEach(watch);\n', "", CHANGES),
  epoch('nodes("all")', 'nodes("master")', CHANGES),
  epoch('      (redis as Cluster).on("+node", watch);\n', "", CHANGES),
  epoch("      watch(redis as Redis);\n", "", CHANGES),
  epoch("`${this.#connections} ${serverOf(this.#redis, accountId)}`", "this.#connections", EPOCH),
  epoch("`${this.#connections} ${serverOf", "`${serverOf", EPOCH),
  epoch("accountId)}` : this.#connections;", "accountId)}` : 0;", EPOCH),
];
