import type { Chaser } from "../outreach/chaser.ts";
import type { Replanner } from "../outreach/replanner.ts";
import type { Sweep } from "./sweep.ts";

/** Sends the reminders that are due. */
export function reminders(chaser: Pick<Chaser, "run">): Sweep {
  return { name: "reminders", run: (signal) => chaser.run(signal) };
}

/** Plans reminders anew where settings have changed. */
export function replans(replanner: Pick<Replanner, "run">): Sweep {
  return { name: "replans", run: (signal) => replanner.run(signal) };
}
