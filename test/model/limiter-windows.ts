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

const LATE = { Features: strings("late", "lost answers"), MaxTime: "1" };
/** The clock steps back twice, by one tick. A window has two. */
export const STEPS = { StepsBack: "{1}", MaxSteps: "2" };

const ledger = run({
  name: "ledger",
  about: "Two keys, a window's edge, late messages, lost answers.",
  invariants: [...CHARGES, "NothingChargedLate"],
  constants: LATE,
});
const back = run({
  name: "ledger, clock steps back",
  about: "Redis's clock steps back over a window's edge, twice.",
  invariants: CHARGES,
  constants: STEPS,
});
const surfaces = run({
  name: "ledger, two surfaces, clock steps back",
  about: "Two surfaces share the window of the ledger, but no count.",
  invariants: CHARGES,
  constants: {
    ...STEPS,
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
  constants: { Costs: "{1, 2}", KeyLimit: "2", MaxTime: "1" },
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
const failover = run({
  name: "ledger, failover",
  about: "The new master lags behind, and its clock differs: only what was not replicated is admitted again.",
  invariants: CHARGES,
  constants: FAILOVER,
  lacks: ["keys looked up after a reconnection"],
});
/** Redis's clock steps back by two windows. */
const FAR_BACK = { Keys: "{k1}", AccountLimit: "1", MaxTime: "3", StepsBack: "{4}", MaxSteps: "1" };
const farBack = run({
  name: "ledger, clock steps far back",
  about: "Redis's clock steps back by more than a window. A ledger of a window that far ahead counts as ended.",
  invariants: ["WindowIsRight"],
  constants: FAR_BACK,
});

export const WINDOWS: Configuration[] = [
  ledger,
  mutant(ledger, "deadline", "NothingChargedLate"),
  shortened(ledger, "time for the way back", "NothingChargedLate", { WayBack: "0" }),
  mutant(ledger, "no resend", "ChargedOnce", { KeyLimit: "2" }),
  mutant(ledger, "both or none", "RefusalChargesNothing"),
  mutant(ledger, "both windows are checked", "AdmittedAtMostTheLimit"),
  mutant(ledger, "account first", "AccountIsNamedFirst"),
  reaches(ledger, "an account that is exhausted", "NeverRefusedForTheAccount"),
  reaches(ledger, "a stale charge", "NeverStale"),
  reaches(ledger, "a charge without an answer", "NeverChargedButUnanswered"),
  costs,
  surfaces,
  back,
  mutant(back, "ledger ahead", "AdmittedAtMostTheLimit"),
  mutant(back, "ledger is emptied", "RefusedOnlyIfExhausted"),
  shortened(back, "the ledger outlives its window", "AdmittedAtMostTheLimit", { Outlives: "0" }),
  reaches(back, "a charge in the next window", "NeverInTheNextWindow"),
  farBack,
  mutant(farBack, "only one window ahead", "WindowIsRight"),
  failover,
  mutant(failover, "ledger ahead", "AdmittedAtMostTheLimit"),
  reaches(failover, "lost counts", "NeverLosesCounts"),
  limit({
    name: "a failover admits again what was not replicated",
    about: "The clients of one window can be given more than the limit.",
    invariants: ["NeverMoreThanTheLimit"],
    constants: {
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
    constants: FAR_BACK,
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
    name: "large: ledger, charges sent again",
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
    constants: { ...LATE, Requests: "{1, 2, 3, 4}", MaxTime: "2" },
    size: "large",
  }),
];
