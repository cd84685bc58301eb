import type { Configuration } from "./configuration.ts";
import { limit, mutant, reaches, run, shortened, strings } from "./limiter-constants.ts";

/** What every run checks of its charges. */
export const CHARGES = [
  "ChargedOnce",
  "AdmittedAtMostTheLimit",
  "RefusedOnlyIfExhausted",
  "RefusalChargesNothing",
  "AccountIsNamedFirst",
  "WindowIsRight",
  "TimedOutOnlyForACause",
];

/** The next design's form of the counters. */
export const LEDGER = { Form: '"ledger"' };

const LATE = { Features: strings("late", "lost answers"), MaxTime: "1" };
/** The clock steps back twice, by one tick. A window has two. */
export const STEPS = { StepsBack: "{1}", MaxSteps: "2" };

const counters = run({
  name: "counters",
  about: "Two keys, a window's edge, late messages, lost answers; two counters for each surface.",
  invariants: [...CHARGES, "NothingChargedLate"],
  constants: LATE,
});
const ledger = run({
  name: "ledger",
  about: "The same with one ledger for the account.",
  invariants: [...CHARGES, "NothingChargedLate"],
  constants: { ...LATE, ...LEDGER },
});
const countersBack = run({
  name: "counters, clock steps back",
  about: "Redis's clock steps back over a window's edge, twice.",
  invariants: CHARGES,
  constants: STEPS,
});
const ledgerBack = run({
  name: "ledger, clock steps back",
  about: "The same with the ledger.",
  invariants: CHARGES,
  constants: { ...STEPS, ...LEDGER },
});
const keyUnread = run({
  name: "counters, clock steps back, key counter ahead not read",
  about: "The key's counter need not be read a window ahead: the account's is written with it, and says the same.",
  invariants: CHARGES,
  constants: { ...STEPS, AccountLimit: "1" },
  lacks: ["key counter ahead"],
});
const surfaces = run({
  name: "ledger, two surfaces, clock steps back",
  about: "Two surfaces share the window of the ledger, but no count.",
  invariants: CHARGES,
  constants: {
    ...STEPS,
    ...LEDGER,
    Keys: "{k1}",
    Surfaces: strings("create", "start"),
    AccountLimit: "1",
    MaxSteps: "1",
  },
});
const costs = run({
  name: "ledger, costs",
  about: "Requests that count as one or as two.",
  invariants: CHARGES,
  constants: { ...LEDGER, Costs: "{1, 2}", KeyLimit: "2", MaxTime: "1" },
});
const FAILOVER = {
  Keys: "{k1}",
  AccountLimit: "1",
  MaxTime: "1",
  MaxLosses: "1",
  SkewsBack: "{1}",
  SkewsForward: "{0, 1}",
  Features: strings("failover"),
};
const failoverCounters = run({
  name: "counters, failover",
  about: "The new master lags behind, and its clock differs: only what was not replicated is admitted again.",
  invariants: CHARGES,
  constants: FAILOVER,
  lacks: ["keys looked up after a reconnection"],
});
const failover = run({
  name: "ledger, failover",
  about: "The same with the ledger.",
  invariants: CHARGES,
  constants: { ...FAILOVER, ...LEDGER },
  lacks: ["keys looked up after a reconnection"],
});
/** Redis's clock steps back by two windows. */
const FAR_BACK = { Keys: "{k1}", AccountLimit: "1", MaxTime: "3", StepsBack: "{4}", MaxSteps: "1" };
const countersFarBack = run({
  name: "counters, clock steps far back",
  about: "Redis's clock steps back by more than a window. A counter of a window that far ahead counts as ended.",
  invariants: ["WindowIsRight"],
  constants: FAR_BACK,
});
const ledgerFarBack = run({
  name: "ledger, clock steps far back",
  about: "The same with the ledger.",
  invariants: ["WindowIsRight"],
  constants: { ...FAR_BACK, ...LEDGER },
});

export const WINDOWS: Configuration[] = [
  counters,
  mutant(counters, "deadline", "NothingChargedLate"),
  shortened(counters, "time for the way back", "NothingChargedLate", { WayBack: "0" }),
  mutant(counters, "no resend", "ChargedOnce", { KeyLimit: "2" }),
  mutant(counters, "both or none", "RefusalChargesNothing"),
  mutant(counters, "both windows are checked", "AdmittedAtMostTheLimit"),
  mutant(counters, "account first", "AccountIsNamedFirst"),
  reaches(counters, "an account that is exhausted", "NeverRefusedForTheAccount"),
  reaches(counters, "a stale charge", "NeverStale"),
  reaches(counters, "a charge without an answer", "NeverChargedButUnanswered"),
  countersBack,
  mutant(countersBack, "counters name their window", "RefusedOnlyIfExhausted"),
  mutant(countersBack, "account counter ahead", "AdmittedAtMostTheLimit", { AccountLimit: "1" }),
  keyUnread,
  shortened(countersBack, "counters outlive their window", "AdmittedAtMostTheLimit", { Outlives: "0" }),
  reaches(countersBack, "a charge in the next window", "NeverInTheNextWindow"),
  countersFarBack,
  mutant(countersFarBack, "only one window ahead", "WindowIsRight"),
  failoverCounters,
  ledger,
  costs,
  surfaces,
  ledgerBack,
  mutant(ledgerBack, "ledger ahead", "AdmittedAtMostTheLimit"),
  mutant(ledgerBack, "ledger is emptied", "RefusedOnlyIfExhausted"),
  shortened(ledgerBack, "the ledger outlives its window", "AdmittedAtMostTheLimit", { Outlives: "0" }),
  ledgerFarBack,
  mutant(ledgerFarBack, "only one window ahead", "WindowIsRight"),
  failover,
  mutant(failover, "ledger ahead", "AdmittedAtMostTheLimit"),
  reaches(failover, "lost counts", "NeverLosesCounts"),
  limit({
    name: "a failover admits again what was not replicated",
    about: "The clients of one window can be given more than the limit.",
    invariants: ["NeverMoreThanTheLimit"],
    constants: {
      ...LEDGER,
      Keys: "{k1}",
      AccountLimit: "1",
      MaxTime: "0",
      MaxLosses: "1",
      Features: strings("failover"),
    },
    violates: "NeverMoreThanTheLimit",
  }),
  limit({
    name: "the clock steps back by more than a window",
    about: "A ledger two windows ahead counts as ended, so the earlier window begins anew.",
    invariants: ["AdmittedAtMostTheLimit"],
    constants: { ...FAR_BACK, ...LEDGER },
    violates: "AdmittedAtMostTheLimit",
  }),
  limit({
    name: "the clock steps back under a deadline",
    about:
      "A deadline on Redis's clock is later in true time if that clock steps back: a charge may count after its 503.",
    invariants: ["NothingChargedLate"],
    constants: { ...LATE, ...STEPS, Keys: "{k1}" },
    violates: "NothingChargedLate",
  }),
  run({
    name: "large: counters, charges sent again",
    about: "A charge is sent again after a lost answer. It may be counted twice, but none is admitted over the limit.",
    invariants: ["AdmittedAtMostTheLimit"],
    constants: LATE,
    lacks: ["no resend"],
    size: "large",
  }),
  run({
    name: "large: ledger, four requests",
    about: "Four requests by two keys, late messages, lost answers, a window's edge.",
    invariants: CHARGES,
    constants: { ...LATE, ...LEDGER, Requests: "{1, 2, 3, 4}", MaxTime: "2" },
    size: "large",
  }),
];
