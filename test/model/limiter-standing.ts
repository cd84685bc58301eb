import type { Configuration } from "./configuration.ts";
import { limit, mutant, reaches, run, shortened, strings } from "./limiter-constants.ts";
import { CHARGES } from "./limiter-windows.ts";

const SAFE = [...CHARGES, "ForbiddenNowhere", "UnauthorizedOnlyIfForbidden"];

/** The key is not yet known to any replica, so its first request looks it up. */
const COLD = { Keys: "{k1}", KeyLimit: "2", Requests: "{1, 2}", MaxTime: "0", Features: strings("cold") };
const REVOCATION = { ...COLD, Commands: "{c1}", Kinds: strings("revoke") };
/** Every replica has cached the key. */
const CACHED = { Keys: "{k1}", Requests: "{1, 2}", Commands: "{c1}", Features: strings("late") };
/** A look-up or a command may stand still for longer than Redis keeps a version. */
const SLOW = { ...REVOCATION, LookUpTime: "2", VersionLife: "2", MaxTime: "2", Features: strings("cold", "slow") };
const TWO_COMMANDS = {
  ...SLOW,
  Commands: "{c1, c2}",
  Kinds: strings("revoke", "rotate"),
  Grace: "5",
  LookUpTime: "1",
  VersionLife: "1",
  MaxTime: "1",
};

const version = run({
  name: "version",
  about: "Keys are cached for good. Look-ups race with a revocation, a rotation and other changes, on two replicas.",
  invariants: SAFE,
  constants: { ...COLD, Replicas: "{r1, r2}", Commands: "{c1, c2}", Kinds: strings("revoke", "rotate", "other") },
});
const cached = run({
  name: "version, cached keys",
  about: "A key is revoked or rotated, while a replica has it cached and charges wait in sockets.",
  invariants: [...SAFE, "NothingChargedLate"],
  constants: { ...CACHED, Kinds: strings("revoke", "rotate") },
});
const rotation = run({
  name: "version, rotation with a grace",
  about: "The old secret works for a while after a rotation, and not longer.",
  invariants: SAFE,
  constants: { ...CACHED, Grace: "1", Kinds: strings("rotate") },
});
const suspension = run({
  name: "version, suspension",
  about: "Commands that suspend and resume an account overlap.",
  invariants: SAFE,
  constants: { ...COLD, Commands: "{c1, c2, c3}", Kinds: strings("suspend", "resume"), Requests: "{1}" },
});
const firstCharge = run({
  name: "version, first charge of a window",
  about: "A charge empties the ledger while another key's look-up is held up. The version stays.",
  invariants: SAFE,
  constants: { ...REVOCATION, Keys: "{k1, k2}" },
});
const expires = run({
  name: "version, expires",
  about: "The version in Redis expires, while a look-up is held up between the store and Redis.",
  invariants: SAFE,
  constants: SLOW,
});
const slowCommand = run({
  name: "version, slow command",
  about: "A command stands still between the store and Redis, until the version of a later one has expired.",
  invariants: ["ForbiddenNowhere"],
  constants: TWO_COMMANDS,
  size: "large", // of the small ones it took the longest
});
const lost = run({
  name: "version, failover and loss of data",
  about: "A revocation is acknowledged, and Redis forgets it: in a failover, or with all of its data.",
  invariants: SAFE,
  constants: { ...REVOCATION, MaxLosses: "1", Features: strings("cold", "failover", "loss of data") },
});
const DEPARTURE = { ...REVOCATION, MaxLosses: "1", Features: strings("cold", "failover", "departure") };
const departure = run({
  name: "version, failover before a charge leaves",
  about: "A replica reconnects between the look into its cache and the sending of the charge.",
  invariants: ["ForbiddenNowhere"],
  constants: DEPARTURE,
});

export const STANDING: Configuration[] = [
  version,
  mutant(version, "version compared", "ForbiddenNowhere"),
  mutant(version, "version only raised", "ForbiddenNowhere"),
  mutant(version, "look-up raises the version", "TimedOutOnlyForACause", { Commands: "{}" }),
  mutant(version, "acknowledged after the announcement", "ForbiddenNowhere"),
  reaches(version, "a key looked up again and admitted", "NeverLooksAgain"),
  reaches(version, "a request refused for its key", "NeverUnauthorized"),
  cached,
  mutant(cached, "version compared", "ForbiddenNowhere"),
  rotation,
  mutant(rotation, "end of a secret", "ForbiddenNowhere"),
  mutant(rotation, "outdated key is looked up again", "UnauthorizedOnlyIfForbidden"),
  suspension,
  mutant(suspension, "version compared", "ForbiddenNowhere"),
  firstCharge,
  mutant(firstCharge, "version outlives the window", "ForbiddenNowhere"),
  expires,
  mutant(expires, "missing version", "ForbiddenNowhere"),
  mutant(expires, "version has a deadline", "ForbiddenNowhere"),
  shortened(expires, "a version outlives every look-up", "ForbiddenNowhere", { VersionLife: "1" }),
  lost,
  mutant(lost, "keys looked up after a reconnection", "ForbiddenNowhere"),
  mutant(lost, "look-up repeated after a reconnection", "ForbiddenNowhere"),
  slowCommand,
  mutant(slowCommand, "announcement has a deadline", "ForbiddenNowhere"),
  departure,
  mutant(departure, "no charge with a key from before a reconnection", "ForbiddenNowhere"),
  limit({
    name: "all keys of Redis are deleted under a look-up",
    about: "FLUSHALL closes no connection. A look-up from before a revocation then puts the old version back.",
    invariants: ["ForbiddenNowhere"],
    constants: { ...REVOCATION, MaxLosses: "1", Features: strings("cold", "all keys deleted") },
    violates: "ForbiddenNowhere",
  }),
  run({
    name: "large: version, everything at once",
    about: "Two replicas, two commands, two requests, a failover or a loss of data.",
    invariants: SAFE,
    constants: {
      ...COLD,
      Replicas: "{r1, r2}",
      Commands: "{c1, c2}",
      Kinds: strings("revoke", "suspend", "other"),
      MaxLosses: "1",
      Features: strings("cold", "failover", "loss of data"),
    },
    size: "large",
  }),
];
