import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { type Clock, timestamp } from "../infra/clock.ts";
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

const HOUR_MS = 3_600_000;
const BATCHES = { gapMs: 2_000, most: 500 };
/** Maximum number of reads that wait for the store, and of ids that are remembered: about 1 kB and 100 bytes each. */
const MAX_WAITING = 10_000;
const MAX_KNOWN = 50_000;

/** Records who read which document or pack, once for a key, an object and an hour. No request waits for it, and none fails. */
export class AuditedReads {
  readonly #clock: Clock;
  readonly #log: Pick<Logger, "warn">;
  readonly #batches: Gathered<AuditEvent>;
  /** Ids of this hour's entries that are written or wait. */
  #known = new Set<string>();
  #hour = 0;
  #lost = 0;

  constructor(store: Pick<AuditStore, "append">, clock: Clock, log: Pick<Logger, "warn">) {
    this.#clock = clock;
    this.#log = log;
    this.#batches = new Gathered(async (events) => {
      await store.append(events);
      if (this.#lost > 0) log.warn({ reads: this.#lost }, "reads are missing in the audit: the store did not respond");
      this.#lost = 0;
    }, BATCHES);
  }

  note(
    { accountId: account, keyId: actor }: { accountId: string; keyId: string },
    { action, candidate, subject }: AuditedRead,
  ): void {
    const now = this.#clock.now();
    const hour = Math.floor(now / HOUR_MS);
    if (hour !== this.#hour || this.#known.size >= MAX_KNOWN) this.#known = new Set();
    this.#hour = hour;
    const _id = idsFrom(`${actor} ${action} ${subject}`, hour * HOUR_MS)("audit");
    if (this.#known.has(_id)) return;
    this.#known.add(_id);
    const details = { candidate, read_at: timestamp(now) };
    this.#put({ _id, actor, action, account, subject, details, ...DONE });
  }

  /** Writes what waits, for at most `withinMs` milliseconds. Never fails. */
  async stop(withinMs: number): Promise<void> {
    for (const until = performance.now() + withinMs; this.#batches.size > 0 && performance.now() < until;) {
      this.#batches.flush();
      await setTimeout(10);
    }
  }

  /** Writes a read with the next batch, again and again until that succeeds. */
  #put(event: AuditEvent): void {
    if (this.#batches.size < MAX_WAITING) this.#batches.add(event).catch(() => this.#put(event));
    else if (this.#lost++ === 0)
      this.#log.warn({}, "the audit cannot be written, so reads are missing in it from now on");
  }
}
