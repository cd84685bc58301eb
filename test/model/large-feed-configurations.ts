import type { Configuration } from "./configuration.ts";
import { whole } from "./feed-configurations.ts";

/** Runs that take longer, by hand. */
export const LARGE_FEED: readonly Configuration[] = [
  whole("a start before an outage, large", "start", "a replica starts, the store stands still, and the replica dies", {
    Ends: "1",
    Outage: "2",
    size: "large",
  }),
  whole("a start and a death, large", "start", "as a late start, and a replica dies or stops", {
    Ends: "1",
    MaxTime: "6",
    size: "large",
  }),
  whole("dead writers with pauses, large", "death", "as dead writers, and a replica may stand still before it sends", {
    Pauses: "TRUE",
    size: "large",
  }),
  whole("two writers and a death, large", "writers", "as two writers, for longer, and one dies or stops", {
    MaxTime: "3",
    Ends: "1",
    size: "large",
  }),
  whole("two writers, large", "writers", "as two writers, for longer, and a write may be on its way for longer", {
    MaxTime: "3",
    Delivery: "2",
    size: "large",
  }),
  whole("late writes, large", "late", "as late writes, for longer", { MaxTime: "7", LastWrite: "3", size: "large" }),
  whole("dead writers, large", "death", "as dead writers, for longer", { MaxTime: "7", LastWrite: "2", size: "large" }),
];
