import type { ContentStore } from "../content/store.ts";
import { inBatches } from "./in-batches.ts";
import type { Sweep } from "./sweep.ts";

/** How long a file's fate may be open, in milliseconds: longer than an upload or a download takes. */
const LEFT_OVER_MS = 60 * 60 * 1000;

/** Bytes that no record names go: those of uploads that were cut off, and of files that others have replaced. */
export function leftOverBytes(content: ContentStore): Sweep {
  return {
    name: "left-over bytes",
    run: (signal) => inBatches(() => content.leftOvers(LEFT_OVER_MS), (entry) => content.removeLeftOver(entry), signal),
  };
}
