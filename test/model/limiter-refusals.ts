import type { Configuration } from "./configuration.ts";
import { limit, mutant, reaches, run, strings } from "./limiter-constants.ts";
import { CHARGES, STEPS } from "./limiter-windows.ts";

const GRANTS = { AccountLimit: "1", MaxTime: "1", GrantExpires: "2", Features: strings("grants") };
const grants = run({
  name: "grants",
  about: "The operator issues a grant, repeats the command, and it expires; two keys draw.",
  invariants: [...CHARGES, "GrantAtMostItsAmount", "GrantOnlyForItsKey", "GrantBeforeItsEnd"],
  constants: GRANTS,
});
const GRANTS_FAILOVER = { ...GRANTS, Keys: "{k1}", MaxLosses: "1", Features: strings("grants", "failover") };
const grantsFailover = run({
  name: "grants, failover",
  about: "What was drawn and not replicated may be drawn again, and no more than that.",
  invariants: [...CHARGES, "GrantKept", "GrantBeforeItsEnd"],
  constants: GRANTS_FAILOVER,
  size: "large", // of the small ones it took the longest
});

const GRANTS_REVOCATION = { ...GRANTS, Keys: "{k1}", MaxTime: "0", Commands: "{c1}", Kinds: strings("revoke") };
const grantsRevocation = run({
  name: "grants, revocation",
  about: "A key is revoked before, between and after a charge and its draw.",
  invariants: [...CHARGES, "ForbiddenNowhere", "GrantAtMostItsAmount"],
  constants: GRANTS_REVOCATION,
});

const TRUE = [...CHARGES, "CachedRefusalIsRight", "CachedAccountAnswerIsWhole"];
/** A replica repeats account_exhausted for two ticks, and key_exhausted for one. */
const REFUSALS = { AccountRefusal: "2", KeyRefusalLife: "1" };
/** One key, and a window that its first request exhausts. */
const ONE = { ...REFUSALS, Keys: "{k1}", AccountLimit: "1" };
const ISSUE = { ...ONE, Requests: "{1, 2}", ClockStart: "0", Window: "6", MaxTime: "3", Features: strings("grants") };

const refusals = run({
  name: "refusals",
  about: "Replicas repeat refusals of an account and of its keys until a window's edge.",
  invariants: TRUE,
  constants: REFUSALS,
});
const costs = run({
  name: "refusals, costs",
  about: "Requests that count as one or as two.",
  invariants: TRUE,
  constants: { ...REFUSALS, Keys: "{k1}", KeyLimit: "2", MaxTime: "0", Costs: "{1, 2}" },
});
const back = run({
  name: "refusals, clock steps back",
  about: "Redis's clock steps back under repeated refusals.",
  invariants: TRUE,
  constants: { ...ONE, ...STEPS },
  size: "large", // of the small ones it took the longest
});
const issue = run({
  name: "refusals, grant issued",
  about: "A grant is placed empty, and filled once no refusal from before is left. No replica need be told.",
  invariants: TRUE,
  constants: ISSUE,
});
/** Only for comparison with the wait of `issue`. */
const DROP = {
  constants: { ...ISSUE, Features: strings("grants", "drop at issue") },
  lacks: ["no refusal beside a grant", "issue waits for cached refusals"],
} as const;
const dropped = run({
  name: "refusals, dropped at the issue of a grant",
  about:
    "If the issue tells the replicas instead of waiting, refusals are right before it and once it is acknowledged.",
  invariants: [...CHARGES, "CachedRefusalIsRightAfterIssue"],
  ...DROP,
  size: "large",
});
const failover = run({
  name: "refusals, failover",
  about: "The new master's clock differs, and it has lost counts. Answers of the old master arrive late.",
  invariants: TRUE,
  constants: {
    ...ONE,
    ClockStart: "0",
    MaxLosses: "1",
    SkewsForward: "{0, 1}",
    SkewsBack: "{1}",
    Features: strings("failover"),
  },
  lacks: ["keys looked up after a reconnection"],
});
const revoked = run({
  name: "refusals, revocation",
  about: "A revocation and a suspension drop no refusals. The key may see 429 instead of 401; it is admitted nowhere.",
  invariants: [...TRUE, "ForbiddenNowhere"],
  constants: {
    ...ONE,
    Requests: "{1, 2, 3}",
    Commands: "{c1}",
    Kinds: strings("revoke", "rotate", "suspend"),
    MaxTime: "1",
  },
});

export const GRANTS_AND_REFUSALS: Configuration[] = [
  grants,
  mutant(grants, "grants only beyond a window", "RefusedOnlyIfExhausted"),
  mutant(grants, "a draw ends with its window", "RefusedOnlyIfExhausted", { GrantExpires: "3" }),
  mutant(grants, "grant of one key", "GrantOnlyForItsKey"),
  mutant(grants, "grant expires", "GrantBeforeItsEnd"),
  mutant(grants, "grant is filled once", "GrantAtMostItsAmount"),
  reaches(grants, "a request granted", "NeverGranted"),
  grantsFailover,
  limit({
    name: "a failover gives back what was drawn from a grant",
    about: "The new master lacks the last draw, or even the fill, and the repeated command then fills the grant again.",
    invariants: ["GrantAtMostItsAmount"],
    constants: GRANTS_FAILOVER,
    violates: "GrantAtMostItsAmount",
  }),
  grantsRevocation,
  mutant(grantsRevocation, "version compared", "ForbiddenNowhere"),
  limit({
    name: "a key is revoked between a charge and its draw",
    about: "The charge was decided before the revocation was acknowledged. Its draw comes in the next moment.",
    invariants: ["NothingDrawnForbidden"],
    constants: GRANTS_REVOCATION,
    violates: "NothingDrawnForbidden",
  }),
  refusals,
  mutant(refusals, "refusal ends with its window", "CachedRefusalIsRight"),
  reaches(refusals, "a refusal repeated", "NeverRefusedFromCache"),
  costs,
  mutant(costs, "refusal only for that cost", "CachedRefusalIsRight"),
  back,
  mutant(back, "refusal ends with its window", "CachedAccountAnswerIsWhole"),
  issue,
  mutant(issue, "refusal has a time limit", "CachedRefusalIsRight"),
  mutant(issue, "no refusal beside a grant", "CachedRefusalIsRight"),
  mutant(issue, "issue waits for cached refusals", "CachedRefusalIsRight"),
  dropped,
  limit({
    name: "refusals dropped at the issue of a grant",
    about: "If the issue tells the replicas instead of waiting, each refuses what Redis would grant until it is told.",
    invariants: ["CachedRefusalIsRight"],
    ...DROP,
    violates: "CachedRefusalIsRight",
  }),
  failover,
  mutant(failover, "refusals dropped on reconnection", "CachedRefusalIsRight"),
  mutant(failover, "no refusal from before a drop", "CachedRefusalIsRight"),
  revoked,
  limit({
    name: "the clock leaps forward under a repeated refusal",
    about: "The window ends sooner than the refusal said. It is repeated for at most AccountRefusal.",
    invariants: ["CachedRefusalIsRight"],
    constants: { ...ONE, StepsForward: "{1}", MaxSteps: "1" },
    violates: "CachedRefusalIsRight",
  }),
  run({
    name: "large: refusals, everything at once",
    about: "Two keys, a grant, a failover to a clock that differs, a window's edge.",
    invariants: TRUE,
    constants: {
      ...REFUSALS,
      AccountLimit: "1",
      ClockStart: "1",
      Window: "3",
      MaxTime: "2",
      MaxLosses: "1",
      SkewsForward: "{0, 1}",
      Features: strings("grants", "failover"),
    },
    lacks: ["keys looked up after a reconnection"],
    size: "large",
  }),
];
