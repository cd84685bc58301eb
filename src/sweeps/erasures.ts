import type { Eraser } from "../candidates/eraser.ts";
import type { CandidateReader } from "../candidates/reader.ts";
import { inBatches } from "./in-batches.ts";
import type { Sweep } from "./sweep.ts";

/** Candidates per batch. */
const BATCH = 100;

/** Finishes erasures that a crash or an outage has interrupted. */
export function erasures(candidates: Pick<CandidateReader, "unfinishedErasures">, eraser: Eraser): Sweep {
  return {
    name: "erasures",
    run: (signal) =>
      inBatches(
        () => candidates.unfinishedErasures(BATCH),
        ({ accountId, id }) => eraser.finish(accountId, id, signal),
        signal,
      ),
  };
}
