import { setTimeout as wait } from "node:timers/promises";
import type { AccountStore } from "../accounts/store.ts";
import type { Eraser } from "../candidates/eraser.ts";
import type { DueStore } from "../candidates/due-store.ts";
import { erasureOf, notedErasureOf, type Retained, unlessErased } from "../candidates/erasure.ts";
import { feedPosition } from "../candidates/feed-clock.ts";
import { type CandidateKey, type CandidateRecord, service } from "../candidates/record.ts";
import type { CandidateStore, Edit } from "../candidates/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Restore } from "../infra/restore.ts";
import { Problem } from "../problems.ts";
import type { RetentionStore, SetRules } from "../settings/retention-store.ts";
import { inBatches, type Sweep } from "./sweep.ts";

const NAME = "retention";
const BATCH = 100;
/** Time after a change of rules in which a write may still follow the earlier ones, in milliseconds. */
const SETTLED_MS = 60_000;

/** Maximum rest after each candidate, in milliseconds. */
const REST_MS = 35;

/** Its candidate is not, or no longer, to be erased. */
class NotDue extends Error {}

export interface RetentionOptions {
  readonly accounts: Pick<AccountStore, "isActive">;
  readonly candidates: Pick<CandidateStore, "change">;
  readonly due: DueStore;
  readonly eraser: Eraser;
  readonly rules: RetentionStore;
  readonly restore: Pick<Restore, "endedAt">;
  readonly clock: Clock;
  /** Maximum time of a write plus clock skew between replicas, in milliseconds. */
  readonly feedLagMs: number;
}

/**
 * Erases candidates that are due by the retention settings of an active account. If these have changed, first notes when
 * candidates will be.
 */
export function retention(options: RetentionOptions): Sweep {
  const { accounts, candidates, due, eraser, rules, restore, clock, feedLagMs } = options;

  const isNoted = (candidate: Retained, accountId: string) =>
    notedErasureOf(candidate) === erasureOf(candidate, rules.of(accountId));

  /** Writes a candidate again, if that notes another time. */
  async function renew({ accountId, id }: CandidateKey): Promise<void> {
    const edit: Edit = (record) => (isNoted(record, accountId) ? record : { ...record });
    await unlessErased(candidates.change(service(accountId, NAME), id, edit));
  }

  /** Goes through the feed up to a minute after the change of the rules. The next pass, or another replica, goes on. */
  async function refresh(set: SetRules, signal: AbortSignal): Promise<void> {
    const { accountId, changedAt, refreshed } = set;
    const end = feedPosition(Math.min(changedAt + SETTLED_MS, clock.now() - feedLagMs));
    for await (const { rows, after } of due.pages(accountId, refreshed, end)) {
      for (const row of rows) {
        if (signal.aborted) return;
        if (!isNoted(row, accountId)) await paced(renew({ accountId, id: row._id }));
      }
      await rules.noteRefreshed(set, after);
    }
  }

  /** Erases a candidate if the rules, read now, and the record that the write replaces say so. */
  async function erase(key: CandidateKey): Promise<boolean> {
    const { accountId, id } = key;
    const [now, isActive] = await Promise.all([rules.fresh(accountId), accounts.isActive(accountId)]);
    if (!isActive) return false;
    const check = (record: CandidateRecord | undefined) => {
      const at = record && erasureOf(record, now);
      if (!at || Date.parse(at) > clock.now()) throw new NotDue();
    };
    try {
      await eraser.erase({ accountId, keyId: NAME }, id, () => undefined, { check });
      return true;
    } catch (error) {
      if (!(error instanceof NotDue || (error instanceof Problem && error.code === "on_hold"))) throw error;
      await renew(key);
      return false;
    }
  }

  return {
    name: NAME,
    async run(signal) {
      // Before each batch: a night of erasures must not hold up the times of others.
      const find = async () => {
        const resting: string[] = [];
        for (const set of await rules.all()) {
          if (!signal.aborted) await refresh(set, signal);
          if (!(await accounts.isActive(set.accountId))) resting.push(set.accountId);
        }
        // A restore may bring back erased people and lose holds. Its operator has as long as the notice to mend both.
        if (clock.now() < restore.endedAt() + rules.noticeMs) return [];
        return due.due(timestamp(clock.now()), BATCH, resting);
      };
      return inBatches(find, (key) => paced(erase(key)), signal);
    },
  };
}

/** Rests after a task, up to twice as long as it took, so that requests wait little for the store. */
async function paced<T>(task: Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await task;
  await wait(Math.min((performance.now() - began) * 2, REST_MS));
  return result;
}
