import { once } from "node:events";
import type { Processes } from "../../support/processes.ts";

/** How long the event loop of a replica was held while something ran. */
export interface Held {
  /** The longest delay of the loop (monitorEventLoopDelay), in milliseconds. Other processes make it longer. */
  readonly delayMs: number;
  /** The longest stretch of CPU time of the main thread between two turns of the loop, in milliseconds. */
  readonly stretchMs: number;
}

/** Preloads watch.mjs. */
export const WATCHED = { NODE_OPTIONS: "--import ./test/faults/loop/watch.mjs" };

/** Runs `work` and returns how long it held the replica's event loop. */
export async function heldDuring({ child }: Pick<Processes, "child">, work: () => Promise<unknown>): Promise<Held> {
  const watching = once(child, "message");
  child.send("watch");
  await watching;
  await work();
  const reported = once(child, "message");
  child.send("report");
  const [held] = (await reported) as [Held];
  return held;
}
