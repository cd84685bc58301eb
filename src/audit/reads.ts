import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { type Clock, HOUR_MS, timestamp } from "../infra/clock.ts";
import { Gathered } from "../infra/gathered.ts";
import { idsFrom } from "../infra/ids.ts";
import { type AuditEvent, DONE } from "./entry.ts";
import type { AuditStore } from "./store.ts";

/** What a request has read. `subject` is its id. */
export interface AuditedRead {
  readonly action: "document.read" | "pack.read";
  readonly candidate: string;
  readonly subject: string;
}

const BATCHES = { gapMs: 2_000, most: 500 };
/** Maximum number of reads that wait for the store, and of ids that are remembered: about 1 kB and 100 bytes each. */
const MAX_WAITING = 10_000;
const MAX_KNOWN = 50_000;

export type AuditedReads = ReturnType<typeof auditedReads>;

/** Records who read which document or pack, once for a key, an object and an hour. No request waits for it, and none fails. */
export function auditedReads(store: Pick<AuditStore, "append">, clock: Clock, log: Pick<Logger, "warn">) {
  /** Ids of this hour's entries that are written or wait. */
  let known = new Set<string>();
  let [knownHour, lost] = [0, 0];
  const batches = new Gathered<AuditEvent>(async (events) => {
    await store.append(events);
    if (lost > 0) log.warn({ reads: lost }, "reads are missing in the audit: the store did not respond");
    lost = 0;
  }, BATCHES);

  function note(reader: { accountId: string; keyId: string }, { action, candidate, subject }: AuditedRead): void {
    const { accountId: account, keyId: actor } = reader;
    const now = clock.now();
    const hour = Math.floor(now / HOUR_MS);
    if (hour !== knownHour || known.size >= MAX_KNOWN) known = new Set();
    knownHour = hour;
    const _id = idsFrom(`${actor} ${action} ${subject}`, hour * HOUR_MS)("audit");
    if (known.has(_id)) return;
    known.add(_id);
    const details = { candidate, read_at: timestamp(now) };
    put({ _id, actor, action, account, subject, details, ...DONE });
  }

  /** Writes a read with the next batch, again and again until that succeeds. */
  function put(event: AuditEvent): void {
    if (batches.size < MAX_WAITING) batches.add(event).catch(() => put(event));
    else if (lost++ === 0) log.warn({}, "the audit cannot be written, so reads are missing in it from now on");
  }

  /** Writes what waits, for at most `withinMs` milliseconds. Never fails. */
  async function stop(withinMs: number): Promise<void> {
    for (const until = performance.now() + withinMs; batches.size > 0 && performance.now() < until;) {
      batches.flush();
      await setTimeout(10);
    }
  }

  return { note, stop };
}
