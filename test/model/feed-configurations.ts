import type { Configuration } from "./configuration.ts";

/** Everything that the service does to keep the feed whole. The modules ask for each of them by its name. */
const PROTECTIONS = {
  lag: "the cursor stays behind the clock",
  marks: "the cursor stays behind the marks",
  "step-back": "at the end of the feed the cursor steps back to the last safe place",
  "safe-stays-behind": "the safe place stays where it was while the reader goes through further pages",
  "until-before-page": "the service looks how far the feed is complete before it reads the page",
  "place-after-before": "a write's place comes after the place of the version that it replaces",
  "compare-and-set": "a replacement names the version that it replaces",
  "late-writes-again": "a write that took too long is written again",
  "unsettled-writes": "a write without an answer is settled later",
  renewal: "an unsettled write gets a new place",
  "renewal-raises-version": "a renewal has a new version",
  "look-again": "a missing candidate is looked for again",
  "registered-when-taken": "a write is open from the moment that it has its place",
  "open-writes-in-mark": "writes under way hold the mark back",
  "unsettled-in-mark": "unsettled writes hold the mark back",
  "first-mark": "a replica makes its mark before its first write",
  "silent-rounds": "the mark of a silent replica stays for some rounds",
  "answered-rounds": "only rounds that the store has answered count",
  "stop-waits": "a replica that stops takes its mark back only if all its writes are settled",
  tombstone: "an erased candidate leaves a tombstone",
  "tombstone-has-place": "a tombstone has a new place",
  "round-allows-for-skew": "a round allows for a replica that starts after it with its clock behind",
  "feed-clock-never-falls": "the feed clock goes on where it was when the clock is put right",
  "high-water": "a replica that starts moves its feed clock to the high-water mark, which every round raises",
  "mark-before-high-water": "a replica that starts makes its mark before it reads the high-water mark",
  "dies-without-old-writes":
    "no replica dies with an open write whose place is older than the silent rounds (an assumption)",
} as const;

type Protection = keyof typeof PROTECTIONS;

/** Two replicas: clients write to r1, and the reader asks r2, whose clock is ahead. */
const BASE = {
  Replicas: '{"r1", "r2"}',
  Running: '{"r1", "r2"}',
  Writers: '{"r1"}',
  Unmarked: "{}",
  Servers: '{"r2"}',
  Prompt: '{"r1", "r2"}',
  Ahead: '{"r2"}',
  Candidates: "{1}",
  Existing: "{}",
  Writes: "1",
  LastWrite: "2",
  Erasures: "FALSE",
  MaxTime: "5",
  MaxSkew: "1",
  Timeout: "1",
  Delivery: "3",
  SilentRounds: "4",
  Outage: "0",
  Ends: "0",
  Limit: "1",
  Busy: "{FALSE}",
  Pauses: "FALSE",
  Leaps: "0",
  LeapBy: "0",
  SlowPages: "FALSE",
};
type Constants = typeof BASE;

const BOTH = BASE.Replicas;

const ONE_REPLICA = {
  Replicas: '{"r1"}',
  Running: '{"r1"}',
  Servers: '{"r1"}',
  Prompt: '{"r1"}',
  Ahead: "{}",
  MaxSkew: "0",
} as const;

/** What the runs are about. Each leaves out what the others have, so that its states are few. */
const SCENES = {
  late: {},
  death: { Ends: "1", LastWrite: "1", MaxTime: "6" },
  pause: { Pauses: "TRUE", Prompt: '{"r2"}', LastWrite: "1", Delivery: "1", SilentRounds: "2" },
  outage: { Ends: "1", Outage: "2", Delivery: "1", SilentRounds: "2", LastWrite: "1" },
  unmarked: { Unmarked: '{"r1"}' },
  start: { Running: '{"r2"}' },
  leap: { Leaps: "1", LeapBy: "4", MaxTime: "3", LastWrite: "3", Delivery: "1", SilentRounds: "2" },
  "start after a leap": {
    Running: '{"r2"}',
    Leaps: "1",
    LeapBy: "4",
    MaxTime: "3",
    LastWrite: "3",
    Delivery: "1",
    SilentRounds: "2",
  },
  writers: {
    Writers: '{"r1", "r2"}',
    Existing: "{1}",
    Writes: "2",
    MaxTime: "2",
    LastWrite: "1",
    Delivery: "1",
    Busy: "{}",
  },
  erasure: { Existing: "{1}", Writes: "2", MaxTime: "4", LastWrite: "1", Erasures: "TRUE" },
  pages: { ...ONE_REPLICA, Busy: "{FALSE, TRUE}", MaxTime: "4", SlowPages: "TRUE" },
  limit: { ...ONE_REPLICA, Busy: "{}", Candidates: "{1, 2}", Writes: "2", MaxTime: "3", LastWrite: "1", Delivery: "2" },
} as const;
type Scene = keyof typeof SCENES;

const INVARIANTS = ["NothingIsSkipped", "FollowerHasAll", "MarksAreTrue", "PagesAgree"];
const PROPERTIES = ["EachWriteIsLater", "ErasedStaysErased"];

function constantsOf(scene: Scene, without: readonly Protection[], more: Partial<Constants> = {}): Constants {
  const names = Object.keys(PROTECTIONS).filter((name) => !without.includes(name as Protection));
  const protections = { Protections: `{${names.map((name) => `"${name}"`).join(", ")}}` };
  return { ...BASE, ...SCENES[scene], ...more, ...protections };
}

export function whole(
  name: string,
  scene: Scene,
  about: string,
  { size = "small", ...more }: Partial<Constants> & { size?: Configuration["size"] } = {},
): Configuration {
  const constants = constantsOf(scene, [], more);
  return {
    name: `feed: ${name}`,
    module: "Feed",
    about,
    constants,
    invariants: INVARIANTS,
    properties: PROPERTIES,
    size,
  };
}

/** A run without one protection. It checks the one thing that must go wrong, so that no other comes before it. */
function without(
  protection: Protection,
  scene: Scene,
  { violates = "NothingIsSkipped", ...more }: Partial<Constants> & { violates?: string } = {},
): Configuration {
  const isProperty = PROPERTIES.includes(violates);
  return {
    name: `feed without: ${protection}`,
    module: "Feed",
    about: `without this: ${PROTECTIONS[protection]}`,
    constants: constantsOf(scene, [protection], more),
    invariants: isProperty ? [] : [violates],
    properties: isProperty ? [violates] : [],
    size: "small",
    violates,
  };
}

/** A run with all protections that must reach something: otherwise its invariants would hold for want of cases. */
function reaches(violates: string, scene: Scene, about: string, more: Partial<Constants> = {}): Configuration {
  const constants = constantsOf(scene, [], more);
  return {
    name: `feed reaches: ${about}`,
    module: "Feed",
    about,
    constants,
    invariants: [violates],
    size: "small",
    violates,
  };
}

/** The runs of the feed's model. */
export const FEED: readonly Configuration[] = [
  whole("late writes", "late", "a write lands late or its answer is lost, and is renewed"),
  whole("dead writers", "death", "a replica dies or stops with writes under way"),
  whole("long pauses", "pause", "a replica stands still for so long that its mark is removed, and goes on"),
  whole("long pauses and a death", "pause", "as long pauses, and the replica dies or stops", {
    Ends: "1",
    size: "large",
  }),
  whole("outages", "outage", "the store stands still, and the replica dies or stops meanwhile"),
  whole("a late start", "start", "a replica whose clock is behind starts while readers read"),
  whole("a leap of the clock", "leap", "the clock leaps ahead and is put right, under two replicas"),
  whole(
    "a start after a leap",
    "start after a leap",
    "as a leap of the clock, and the replica that writes starts at any time",
  ),
  whole("a writer without marks", "unmarked", "clients write to a replica of an earlier version, which makes no marks"),
  whole("late changes", "late", "as late writes, of a candidate that exists", { Existing: "{1}", size: "large" }),
  whole("late writes, two servers", "late", "as late writes, and the reader asks both replicas", { Servers: BOTH }),
  whole("dead writers, two servers, large", "death", "as dead writers, and the reader asks both replicas", {
    Servers: BOTH,
    size: "large",
  }),
  whole("two writers", "writers", "two replicas with skewed clocks change one candidate"),
  whole("erasures", "erasure", "a candidate is changed and erased, and each write may land late"),
  whole("erasures and a death, large", "erasure", "as erasures, and a replica dies or stops", {
    Ends: "1",
    size: "large",
  }),
  whole("slow pages", "pages", "writes land between the two halves of a page's answer, and between pages"),
  whole("page limits", "limit", "two candidates on pages of one row, to the end of the feed"),

  without("lag", "unmarked"),
  without("round-allows-for-skew", "start", { Ends: "1", Outage: "2" }),
  without("marks", "death"),
  without("step-back", "late"),
  without("safe-stays-behind", "pages"),
  without("until-before-page", "pages"),
  without("place-after-before", "writers", { violates: "EachWriteIsLater" }),
  without("compare-and-set", "writers", { violates: "EachWriteIsLater" }),
  without("late-writes-again", "pause"),
  without("unsettled-writes", "late"),
  without("renewal", "late", { Existing: "{1}" }),
  without("renewal-raises-version", "late", { Existing: "{1}" }),
  without("look-again", "late"),
  without("registered-when-taken", "death", { Pauses: "TRUE" }),
  without("open-writes-in-mark", "death"),
  without("unsettled-in-mark", "death"),
  without("first-mark", "start", { Ends: "1", MaxTime: "6" }),
  without("silent-rounds", "death"),
  without("answered-rounds", "outage"),
  without("stop-waits", "death"),
  without("tombstone", "erasure", { violates: "FollowerHasAll" }),
  without("tombstone-has-place", "erasure"),
  without("feed-clock-never-falls", "leap"),
  without("high-water", "start after a leap"),
  without("mark-before-high-water", "start after a leap"),
  without("dies-without-old-writes", "pause", { Ends: "1" }),

  reaches("NeverLandsBehindTheReader", "pause", "a write lands behind the reader, and waits for its renewal"),
  reaches("NeverForgetsTheDead", "death", "the mark of a dead replica is removed"),
  reaches("NeverLandsAfterDeath", "death", "a write of a dead replica lands later than the lag allows"),
  reaches("NeverMirrorsATombstone", "erasure", "the mirror ends with a tombstone"),
  reaches("NeverBetweenPages", "pages", "the reader is between two pages"),
  reaches("NeverRenewed", "late", "a candidate is renewed"),
];
