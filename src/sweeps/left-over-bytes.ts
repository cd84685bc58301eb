import { namesFile } from "../candidates/record.ts";
import type { CandidateReader } from "../candidates/reader.ts";
import { isTombstone } from "../candidates/tombstone.ts";
import type { PendingFile } from "../content/pending-store.ts";
import type { ContentStore } from "../content/store.ts";
import { inBatches } from "./in-batches.ts";
import type { Sweep } from "./sweep.ts";

/** How long a file may stay unsettled, in milliseconds: longer than any upload or download takes. */
const LEFT_OVER_MS = 60 * 60 * 1000;

/** Removes bytes that no record names: those of interrupted uploads and of replaced files. */
export function leftOverBytes(content: ContentStore, candidates: Pick<CandidateReader, "find">): Sweep {
  async function isNamed({ _id, account, candidate }: PendingFile): Promise<boolean> {
    const record = await candidates.find(account, candidate);
    return record !== null && !isTombstone(record) && namesFile(record, _id);
  }
  return {
    name: "left_over_bytes",
    run: (signal) =>
      inBatches(
        () => content.leftOvers(LEFT_OVER_MS),
        (entry) => content.removeLeftOver(entry, isNamed),
        signal,
      ),
  };
}
