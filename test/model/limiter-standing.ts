import type { Configuration } from "./configuration.ts";
import { limit, mutant, reaches, run, shortened, strings } from "./limiter-constants.ts";
import { CHARGES, LEDGER } from "./limiter-windows.ts";

const SAFE = [...CHARGES, "ForbiddenNowhere", "UnauthorizedOnlyIfForbidden"];

/** The key is not yet known to any replica, so its first request looks it up. */
const COLD = { Keys: "{k1}", KeyLimit: "2", Requests: "{1, 2}", MaxTime: "0", Features: strings("cold") };
const VERSION = { ...COLD, ...LEDGER, Standing: '"version"' };

const MARKERS = {
  Keys: "{k1}",
  Requests: "{1, 2}",
  Commands: "{c1}",
  Kinds: strings("revoke", "rotate"),
  KeyCache: "2",
  MarkerLife: "3",
  Features: strings("late"),
};
const markers = run({
  name: "markers",
  about: "A key is revoked or rotated, while a replica has it cached and charges wait in sockets.",
  invariants: SAFE,
  constants: MARKERS,
});
const rotation = run({
  name: "markers, rotation with a grace",
  about: "The old secret works for a while after a rotation, and not longer.",
  invariants: SAFE,
  constants: { ...MARKERS, Grace: "1", Kinds: strings("rotate") },
});
const twoCommands = run({
  name: "markers, two commands at once",
  about:
    "A revocation and a rotation of one key overlap. A marker is never replaced by an older record's. No record is read again.",
  invariants: SAFE,
  constants: { ...COLD, Commands: "{c1, c2}", Kinds: strings("revoke", "rotate"), Grace: "5" },
  lacks: ["record read again"],
});
const SUSPENSION = {
  Keys: "{k1}",
  Requests: "{1}",
  Commands: "{c1, c2, c3}",
  Kinds: strings("suspend", "resume"),
  MaxTime: "0",
};
const suspension = run({
  name: "markers, suspension",
  about: "Commands that suspend and resume an account overlap.",
  invariants: [...SAFE, "NoFalseSuspension"],
  constants: SUSPENSION,
  lacks: ["record read again"],
});
const suspensionLost = run({
  name: "markers, suspension, loss of data",
  about:
    "Redis forgets the newer of two overlapping commands before the older one announces its record. It reads the record again.",
  invariants: ["NoFalseSuspension"],
  constants: { ...SUSPENSION, MaxLosses: "1", Features: strings("loss of data") },
});
const markersLost = run({
  name: "markers, loss of data",
  about: "Redis loses the markers: a revoked key goes on only where it was cached, and no longer than that.",
  invariants: [...CHARGES, "ForbiddenOnlyWhileCached"],
  constants: {
    Keys: "{k1}",
    Requests: "{1}",
    Commands: "{c1}",
    Kinds: strings("revoke"),
    KeyCache: "2",
    MaxTime: "5",
    MaxLosses: "1",
    Features: strings("late", "loss of data"),
  },
  lacks: ["keys looked up after a reconnection"],
});
const version = run({
  name: "version",
  about: "Keys are cached for good. Look-ups race with a revocation, a rotation and other changes, on two replicas.",
  invariants: SAFE,
  constants: { ...VERSION, Replicas: "{r1, r2}", Commands: "{c1, c2}", Kinds: strings("revoke", "rotate", "other") },
});
const versionSuspension = run({
  name: "version, suspension",
  about: "Commands that suspend and resume an account overlap. No marker is needed.",
  invariants: SAFE,
  constants: { ...VERSION, Commands: "{c1, c2, c3}", Kinds: strings("suspend", "resume"), Requests: "{1}" },
});
const versionExpires = run({
  name: "version, expires",
  about: "The version in Redis expires, while a look-up is held up between the store and Redis.",
  invariants: SAFE,
  constants: {
    ...VERSION,
    Commands: "{c1}",
    Kinds: strings("revoke"),
    MarkerLife: "2",
    Timeout: "3",
    MaxTime: "2",
    Features: strings("cold", "late"),
  },
});
const versionLost = run({
  name: "version, failover and loss of data",
  about: "A revocation is acknowledged, and Redis forgets it: in a failover, or with all of its data.",
  invariants: SAFE,
  constants: {
    ...VERSION,
    Commands: "{c1}",
    Kinds: strings("revoke"),
    MaxLosses: "1",
    Features: strings("cold", "failover", "loss of data"),
  },
});

export const STANDING: Configuration[] = [
  markers,
  mutant(markers, "key marker", "ForbiddenNowhere"),
  mutant(markers, "version compared", "ForbiddenNowhere"),
  mutant(markers, "acknowledged after the announcement", "ForbiddenNowhere"),
  shortened(markers, "a marker outlives the caches", "ForbiddenNowhere", { MarkerLife: "1" }),
  reaches(markers, "a request refused for its key", "NeverUnauthorized"),
  rotation,
  mutant(rotation, "end of a secret", "ForbiddenNowhere"),
  mutant(rotation, "outdated key is looked up again", "UnauthorizedOnlyIfForbidden"),
  twoCommands,
  mutant(twoCommands, "markers are never taken back", "ForbiddenNowhere"),
  suspension,
  mutant(suspension, "account marker", "ForbiddenNowhere"),
  mutant(suspension, "markers are never taken back", "ForbiddenNowhere"),
  suspensionLost,
  mutant(suspensionLost, "record read again", "NoFalseSuspension"),
  limit({
    name: "a failover loses the end of a suspension",
    about: "The resumption is acknowledged, and the account stays refused until its marker expires or it is repeated.",
    invariants: ["NoFalseSuspension"],
    constants: { ...SUSPENSION, MaxLosses: "1", Features: strings("failover") },
    violates: "NoFalseSuspension",
  }),
  markersLost,
  mutant(markersLost, "deadline", "ForbiddenOnlyWhileCached"),
  reaches(markersLost, "a revoked key is admitted where it was cached", "ForbiddenNowhere"),
  version,
  mutant(version, "version compared", "ForbiddenNowhere"),
  mutant(version, "version only raised", "ForbiddenNowhere"),
  mutant(version, "look-up raises the version", "TimedOutOnlyForACause", { Commands: "{}" }),
  mutant(version, "acknowledged after the announcement", "ForbiddenNowhere"),
  reaches(version, "a key looked up again and admitted", "NeverLooksAgain"),
  versionSuspension,
  versionExpires,
  mutant(versionExpires, "missing version", "ForbiddenNowhere"),
  mutant(versionExpires, "version has a deadline", "ForbiddenNowhere"),
  shortened(versionExpires, "a version outlives every look-up", "ForbiddenNowhere", { MarkerLife: "1" }),
  versionLost,
  mutant(versionLost, "keys looked up after a reconnection", "ForbiddenNowhere"),
  mutant(versionLost, "look-up repeated after a reconnection", "ForbiddenNowhere"),
  limit({
    name: "all keys of Redis are deleted under a look-up",
    about: "FLUSHALL closes no connection. A look-up from before a revocation then puts the old version back.",
    invariants: ["ForbiddenNowhere"],
    constants: {
      ...VERSION,
      Commands: "{c1}",
      Kinds: strings("revoke"),
      MaxLosses: "1",
      Features: strings("cold", "all keys deleted"),
    },
    violates: "ForbiddenNowhere",
  }),
  run({
    name: "large: version, everything at once",
    about: "Two replicas, two commands, two requests, a failover or a loss of data.",
    invariants: SAFE,
    constants: {
      ...VERSION,
      Replicas: "{r1, r2}",
      Commands: "{c1, c2}",
      Kinds: strings("revoke", "suspend", "other"),
      MaxLosses: "1",
      Features: strings("cold", "failover", "loss of data"),
    },
    size: "large",
  }),
];
