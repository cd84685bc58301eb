import { type Clock, timestamp } from "../infra/clock.ts";
import type { LogLines } from "../infra/log.ts";
import { ocsfOf } from "./ocsf.ts";
import type { AuditPosition, AuditStore } from "./store.ts";

/** Entries for which the position is noted together: fewer lines than the log holds for a slow reader. */
const BATCH = 500;

/**
 * Returns a sweep that writes new entries to the log, those of commands included, each at least once: it notes how far it came after
 * the lines have left the process. The very first pass skips what is there already.
 * @param lagMs maximum time until an entry appears, in milliseconds.
 */
export function auditLog(store: AuditStore, { clock, lagMs, lines }: { clock: Clock; lagMs: number; lines: LogLines }) {
  const written = (last: AuditPosition) => lines.flushed().then(() => store.setLogged(last));
  return async (signal: AbortSignal): Promise<number> => {
    const until = timestamp(clock.now() - lagMs);
    const after = await store.logged({ at: until, account: "", seq: null, _id: "" });
    await lines.flushed();
    let [count, last] = [0, after];
    for await (const record of store.entries({ after, until })) {
      if (signal.aborted) break;
      lines.write(ocsfOf(record, clock.now()));
      last = record;
      if (++count % BATCH === 0) await written(last);
    }
    if (last !== after) await written(last);
    return count;
  };
}
