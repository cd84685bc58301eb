import { type Clock, timestamp } from "../infra/clock.ts";
import { FairLimit } from "../infra/fair-limit.ts";
import { idsOf, type NewId } from "../infra/ids.ts";
import { TimeSlice } from "../infra/time-slice.ts";
import { invalid, Problem, problem } from "../problems.ts";
import type { Checked, Entry } from "../schema/entry.ts";
import type { Write } from "./batch-store.ts";
import type { BulkPatch } from "./bulk-schema.ts";
import { UnreadableRecord } from "./erasure.ts";
import type { CandidateInput, OnConflict } from "./input-schema.ts";
import { merged, partIds, withBulkPatch } from "./merges.ts";
import type { CandidateReader } from "./reader.ts";
import type { CandidateRecord } from "./record.ts";
import type { CandidateService, Outcome, Put } from "./service.ts";
import type { CandidateStore } from "./store.ts";

/** Maximum number of candidates that are read and written together, and of their bytes: the write encodes them in one go. */
const MAX_TOGETHER = 25;
const MAX_BYTES_TOGETHER = 128 * 1024;
/** Number of batches, or of entries alone, that a process works on at once. Each keeps the event loop for slices of 10 ms. */
const CONCURRENCY = 2;

/** What became of one entry. */
export type Done = Problem | (Put & Pick<Checked<unknown>, "warnings">);

/** How an entry is done: with others in one write; not at all, because its outcome is known; or alone. */
type Plan = { readonly write: Write; readonly outcome: Outcome } | Put | typeof ALONE;

const ALONE = undefined;

type Found = Awaited<ReturnType<CandidateReader["several"]>>;

/** What an entry may name its candidate by. */
interface Named {
  readonly id?: string;
  readonly external_id?: string | null;
}

interface Work<Value> {
  /**
   * Plans an entry.
   * @param holder the id of the candidate that has its external_id.
   * @throws a problem if the entry can only be done alone.
   */
  readonly plan: (
    value: Value,
    found: Found,
    place: { index: number; holder: string | undefined },
  ) => Plan | Promise<Plan>;
  readonly alone: (value: Value, index: number) => Promise<Put>;
}

interface Around {
  /** The index of the first entry. */
  readonly first: number;
  /** The ids and external_ids that earlier entries name. */
  readonly named: Set<string>;
  /** Of the whole request: a batch of refused entries alone takes less than a slice, and never waits. */
  readonly slice: TimeSlice;
}

interface Dependencies {
  readonly candidates: CandidateService;
  readonly store: CandidateStore;
  readonly clock: Clock;
}

export type BulkService = ReturnType<typeof bulkService>;

/** Creates and changes many candidates in one request. Each may fail alone. What the store fails at ends the request. */
export function bulkService({ candidates, store, clock }: Dependencies) {
  const limit = new FairLimit(CONCURRENCY);
  const slow = new FairLimit(CONCURRENCY); // an entry may have 200 files, and the batches of others would wait
  const now = () => timestamp(clock.now());
  const { reader, batches } = store;

  /** An interrupted attempt of the same request had the same ids. */
  function create(
    accountId: string,
    entries: readonly Entry<CandidateInput>[],
    { newId, onConflict }: { newId: NewId; onConflict: OnConflict | undefined },
  ): Promise<Done[]> {
    const ids = entries.map(() => newId("cand"));
    const work: Work<CandidateInput> = {
      async plan(given, { records, isWhole }, { index, holder }) {
        const id = ids[index]!;
        const hasContent = given.documents?.some((each) => typeof each !== "string" && each.content);
        if (hasContent || (onConflict && !given.external_id)) return ALONE;
        const known = records.find((each) => each.id === holder && each.external_id === given.external_id);
        if (known === undefined && (holder !== undefined || !isWhole)) return ALONE;
        if (known === undefined)
          return { write: { draft: await candidates.draft({ accountId, id }, given, idsOf(id)) }, outcome: "created" };
        if (known.id === id) return { record: known, outcome: "created" };
        if (onConflict === undefined) return ALONE;
        const to = { ids: partIds(given, idsOf(id)), now: now() };
        return planned(known, onConflict === "skip" ? known : merged(known, given, to));
      },
      alone: (given, index) => candidates.put(accountId, given, idsOf(ids[index]!), onConflict),
    };
    return run(accountId, entries, work);
  }

  function update(accountId: string, entries: readonly Entry<BulkPatch>[]): Promise<Done[]> {
    const work: Work<BulkPatch> = {
      plan(patch, { records }, { holder }) {
        const { id = holder, external_id } = patch;
        const known = records.find((each) => each.id === id);
        if (known === undefined || (patch.id === undefined && known.external_id !== external_id)) return ALONE;
        return planned(known, withBulkPatch(known, patch, now()));
      },
      async alone(patch) {
        const { id, external_id } = patch;
        if (id === undefined && !external_id) throw invalid("/id", "must be sent, or external_id");
        const found = id ?? (await store.externalIds.holderOf(accountId, external_id!)) ?? `external:${external_id}`;
        return candidates.edit(accountId, found, (before, at) => withBulkPatch(before, patch, at));
      },
    };
    return run(accountId, entries, work);
  }

  /** Processes the entries in order, in small batches. Accounts take turns between batches. */
  async function run<Value extends Named>(
    accountId: string,
    entries: readonly Entry<Value>[],
    work: Work<Value>,
  ): Promise<Done[]> {
    const done: Done[] = [];
    const around = { named: new Set<string>(), slice: new TimeSlice() };
    while (done.length < entries.length) {
      let bytes = 0;
      const next = entries.slice(done.length, done.length + MAX_TOGETHER);
      const few = next.filter(({ size }, n) => (bytes += size) <= MAX_BYTES_TOGETHER || n === 0);
      const first = done.length;
      const results = await limit.run(accountId, () => together(accountId, few, { first, ...around, ...work }));
      for (const result of results)
        done.push(typeof result === "function" ? await slow.run(accountId, result) : result);
    }
    return done;
  }

  /**
   * Does what can be done in one write, and returns the rest as functions.
   */
  async function together<Value extends Named>(
    accountId: string,
    entries: readonly Entry<Value>[],
    { first, named, slice, plan, alone }: Work<Value> & Around,
  ): Promise<(Done | (() => Promise<Done>))[]> {
    const read: (Checked<Value> | Problem)[] = [];
    for (const entry of entries) {
      read.push(await refusable(() => entry.read()));
      if (slice.isOver()) await slice.next();
    }
    const values = read.flatMap((each) => (each instanceof Problem ? [] : each.value));
    const externalIds = values.flatMap(({ external_id }) => external_id ?? []);
    const holders = await store.externalIds.holdersOf(accountId, externalIds);
    const ids = values.flatMap(({ id, external_id }) => id ?? holders.get(external_id) ?? []);
    const found = await reader.several(accountId, ids);
    const plans: Plan[] = [];
    for (const [n, each] of read.entries()) {
      const { id, external_id }: Named = each instanceof Problem ? {} : each.value;
      const names = [id, external_id].filter((name) => name != null);
      // A second entry of the same candidate is done after the first, and finds what that one has written.
      const isLater = each instanceof Problem || names.some((name) => named.has(name));
      const place = { index: first + n, holder: holders.get(external_id) };
      const planned = isLater ? ALONE : await refusable(() => plan(each.value, found, place));
      plans.push(planned instanceof Problem ? ALONE : planned);
      for (const name of [...names, ...namesIn(plans[n])]) named.add(name);
      if (slice.isOver()) await slice.next();
    }
    const writes = plans.flatMap((each) => (each && "write" in each ? each.write : []));
    const written = await batches.write(accountId, writes);
    return read.map((each, n) => {
      if (each instanceof Problem) return each;
      const planned = plans[n];
      const doneAs = (result: Put | Problem) =>
        result instanceof Problem ? result : { ...result, warnings: each.warnings };
      const record = planned && "write" in planned ? written.shift() : planned?.record;
      if (planned && record) return doneAs({ record, outcome: planned.outcome });
      return async () => doneAs(await refusable(() => alone(each.value, first + n)));
    });
  }

  return { create, update };
}

function planned(before: CandidateRecord, after: CandidateRecord): Plan {
  if (after === before) return { record: before, outcome: "unchanged" };
  return { write: { before, after }, outcome: "updated" };
}

/** Returns the names of the candidate that a plan changes. */
function namesIn(plan: Plan): string[] {
  if (!plan || !("write" in plan) || "draft" in plan.write) return [];
  const { id, external_id } = plan.write.before;
  return external_id === null ? [id] : [id, external_id];
}

/** Returns what a task returns, or the problem of this entry alone. @throws what ends the whole request. */
export async function refusable<T>(task: () => T | Promise<T>): Promise<T | Problem> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return error;
    if (error instanceof UnreadableRecord)
      return problem("internal_error", "The candidate's record is damaged. Contact support.", { cause: error });
    throw error;
  }
}
