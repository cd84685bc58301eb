import pLimit from "p-limit";
import { planned } from "../candidates/outreach.ts";
import { type CandidateKey, service } from "../candidates/record.ts";
import { SETTLED_MS } from "./account-store.ts";
import { replanned } from "./edits.ts";
import { plannerOf, type ReminderRules } from "./plan.ts";
import type { WritingParts } from "./stores.ts";
import { unlessErased } from "../candidates/erasure.ts";

const MAX_ACCOUNTS = 1_000;
const BATCH = 100;
/** Maximum number of candidates of one account that one pass replans, so that the other accounts do not wait long. */
const SHARE = 1_000;
const CONCURRENCY = 10;

/**
 * Replans reminders after settings of accounts changed, in one pass. Returns the number of candidates that have another plan.
 * @throws AggregateError with the failure of each account. The others are handled all the same.
 */
export async function replan(parts: WritingParts, signal: AbortSignal): Promise<number> {
  const { stores, clock } = parts;
  const failures: unknown[] = [];
  let count = 0;
  for (const { accountId, changedAt } of await stores.accounts.changed(MAX_ACCOUNTS)) {
    if (signal.aborted) return count;
    // Looked at before the plans: a write that ends later follows rules that were read later.
    const isOld = clock.now() > Date.parse(changedAt) + SETTLED_MS;
    try {
      const { changed, isDone } = await replanAccount(accountId, parts, signal);
      count += changed;
      if (isOld && isDone) await stores.accounts.settled(accountId, changedAt);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} accounts failed`);
  return count;
}

/** Replans at most SHARE candidates of one account. `isDone` if none is left. */
async function replanAccount(accountId: string, parts: WritingParts, signal: AbortSignal) {
  const limit = pLimit(CONCURRENCY);
  let changed = 0;
  for (let handled = 0; handled < SHARE && !signal.aborted; handled += BATCH) {
    const { rules } = await parts.rules.fresh(accountId); // each time: they may have changed
    const keys = await parts.stores.plans.plannedOtherwise(accountId, rules.version, BATCH);
    const isChanged = (key: CandidateKey) => !signal.aborted && unlessErased(replanCandidate(key, rules, parts));
    changed += (await limit.map(keys, isChanged)).filter(Boolean).length;
    if (keys.length < BATCH) return { changed, isDone: !signal.aborted };
  }
  return { changed, isDone: false };
}

/** Returns whether that changed what the API shows, or when the sender looks at the candidate. */
async function replanCandidate(key: CandidateKey, rules: ReminderRules, { candidates, stores, clock }: WritingParts) {
  const record = await candidates.reader.get(key.accountId, key.id);
  const { outreach } = planned(record, plannerOf(rules), clock.now());
  if (JSON.stringify({ ...record.outreach, rules: rules.version }) === JSON.stringify(outreach)) {
    await stores.plans.noteRules(key, record.version, rules.version);
    return false;
  }
  await candidates.change(service(key.accountId, "replans"), key.id, (before, now) => replanned(before, rules, now));
  return true;
}
