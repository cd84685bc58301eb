import type { AnyBulkWriteOperation, Collection } from "mongodb";
import { timestamp } from "../infra/clock.ts";
import type { Mongo } from "../infra/mongo.ts";
import { TimeSlice } from "../infra/time-slice.ts";
import { expired } from "./expire.ts";
import type { CandidateStore } from "./store.ts";
import { encode, type Stored } from "./stored.ts";
import { nextVersion } from "./version.ts";

const BATCH = 100;

type ExpiringCandidates = Pick<CandidateStore, "reader" | "openWrites" | "rulesOf" | "feedClock">;

/**
 * Expires documents in bulk. Many candidates expire at the same midnight, and the feed must show them within a minute: one read and one write for each candidate would take too long. May throw problem store_unavailable.
 */
export class ExpiryStore {
  readonly #mongo: Mongo;
  readonly #store: ExpiringCandidates;
  readonly #candidates: Collection<Stored>;

  constructor(mongo: Mongo, store: ExpiringCandidates) {
    this.#mongo = mongo;
    this.#store = store;
    this.#candidates = mongo.db.collection("candidates");
  }

  /**
   * Expires the accepted documents of up to 100 candidates whose expires_on is before `today`, the most overdue first.
   * Skips a candidate that somebody changes at the same moment: the next call finds it again. Two round trips, and
   * one more if the settings of some accounts are not known to this process.
   * @returns how many candidates were changed.
   */
  async expire(today: string): Promise<number> {
    const { reader, openWrites, rulesOf, feedClock } = this.#store;
    const due = await reader.expiring(today, BATCH);
    if (due.length === 0) return 0;
    const accounts = [...new Set(due.map(({ accountId }) => accountId))];
    const rules = new Map(await Promise.all(accounts.map(async (id) => [id, await rulesOf(id)] as const)));
    const latest = Math.max(...due.map(({ updated_at }) => Date.parse(updated_at)));
    const place = feedClock.take(latest);
    const slice = new TimeSlice();
    const owners = due.map(({ accountId, id }) => ({ accountId, id }));
    const { matchedCount } = await openWrites.during(owners, place, async () => {
      const writes: AnyBulkWriteOperation<Stored>[] = [];
      for (const before of due) {
        const edited = expired(before, today, timestamp(place.now));
        const after = nextVersion(before, edited, place.at, rules.get(before.accountId), place.now);
        const { id: _id, accountId: account, version } = before;
        writes.push({
          replaceOne: { filter: { _id, account, version }, replacement: encode(after, place.at, before) },
        });
        if (slice.isOver()) await slice.next();
      }
      return this.#mongo.bounded("update candidates", (limits) =>
        this.#candidates.bulkWrite(writes, { ...limits, ordered: false }),
      );
    });
    if (this.#mongo.isLate(place.takenAt)) for (const owner of owners) openWrites.settleLater(owner, place);
    return matchedCount;
  }
}
