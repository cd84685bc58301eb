import type { AccountStore } from "../accounts/store.ts";
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
import type { Author, CandidateRecord } from "./record.ts";
import type { CandidateService, Put } from "./service.ts";
import type { CandidateStore } from "./store.ts";

/** Maximum number of candidates that are read and written together, and of their bytes: the write encodes them in one go. */
const MAX_TOGETHER = 25;
const MAX_BYTES_TOGETHER = 128 * 1024;
/** Number of batches, or of entries alone, that a process works on at once. Each keeps the event loop for slices of 10 ms. */
const CONCURRENCY = 2;

/** What became of one entry. */
export type Done = Problem | (Put & Pick<Checked<unknown>, "warnings">);

/** How an entry is done: with others in one write; not at all, because its outcome is known; or alone. */
type Plan = Write | Put | typeof ALONE;

const ALONE = undefined;

/** What an entry may name its candidate by. */
interface Named {
  readonly id?: string;
  readonly external_id?: string | null;
}

interface Work<Value> {
  /**
   * Plans an entry.
   * @param known the candidate that it names. Undefined if there is none.
   * @throws a problem if the entry can only be done alone.
   */
  readonly plan: (value: Value, known: CandidateRecord | undefined, index: number) => Plan | Promise<Plan>;
  readonly alone: (value: Value, index: number) => Promise<Put>;
}

interface Dependencies {
  readonly accounts: Pick<AccountStore, "isActive">;
  readonly candidates: CandidateService;
  readonly store: CandidateStore;
  readonly clock: Clock;
}

export type BulkService = ReturnType<typeof bulkService>;

/** Creates and changes many candidates in one request. Each may fail alone. What the store fails at ends the request. */
export function bulkService({ accounts, candidates, store, clock }: Dependencies) {
  const limit = new FairLimit(CONCURRENCY);
  const slow = new FairLimit(CONCURRENCY); // an entry may have 200 files, and the batches of others would wait
  const now = () => timestamp(clock.now());
  const { reader, batches } = store;

  /** An interrupted attempt of the same request had the same ids. */
  function create(
    author: Author,
    entries: readonly Entry<CandidateInput>[],
    { newId, onConflict }: { newId: NewId; onConflict: OnConflict | undefined },
  ): Promise<Done[]> {
    const { accountId } = author;
    const ids = entries.map(() => newId("cand"));
    return run(author, entries, {
      async plan(given, known, index) {
        const id = ids[index]!;
        const hasContent = given.documents?.some((each) => typeof each !== "string" && each.content);
        if (hasContent || (onConflict && !given.external_id)) return ALONE;
        if (known === undefined) return { draft: await candidates.draft({ accountId, id }, given, idsOf(id)) };
        if (known.id === id) return { record: known, outcome: "created" };
        if (onConflict === undefined) return ALONE;
        const to = { ids: partIds(given, idsOf(id)), now: now() };
        return planned(known, onConflict === "skip" ? known : merged(known, given, to));
      },
      alone: (given, index) => candidates.put(author, given, idsOf(ids[index]!), onConflict),
    });
  }

  function update(author: Author, entries: readonly Entry<BulkPatch>[]): Promise<Done[]> {
    const { accountId } = author;
    return run(author, entries, {
      plan: (patch, known) => (known === undefined ? ALONE : planned(known, withBulkPatch(known, patch, now()))),
      async alone(patch) {
        const { id, external_id } = patch;
        if (id === undefined && !external_id) throw invalid("/id", "must be sent, or external_id");
        const found = id ?? (await store.externalIds.holderOf(accountId, external_id!)) ?? `external:${external_id}`;
        return candidates.edit(author, found, (before, at) => withBulkPatch(before, patch, at));
      },
    });
  }

  /** A request takes minutes if its entries have files. It ends with its account: nobody would erase what it still creates. */
  async function checkActive({ accountId, by }: Author): Promise<void> {
    const detail = "The account was suspended during the request. The entries up to then are done.";
    if (by.type === "key" && !(await accounts.isActive(accountId))) throw problem("account_suspended", detail);
  }

  /** Processes the entries in order, in small batches. Accounts take turns between batches. */
  async function run<Value extends Named>(
    author: Author,
    entries: readonly Entry<Value>[],
    { plan, alone }: Work<Value>,
  ): Promise<Done[]> {
    const { accountId } = author;
    const done: Done[] = [];
    const named = new Set<string>(); // the ids and external_ids that earlier entries name
    const slice = new TimeSlice();
    while (done.length < entries.length) {
      let bytes = 0;
      if (done.length > 0) await checkActive(author);
      const next = entries.slice(done.length, done.length + MAX_TOGETHER);
      const few = next.filter(({ size }, n) => (bytes += size) <= MAX_BYTES_TOGETHER || n === 0);
      for (const { read, put } of await limit.run(accountId, () => together(few, done.length))) {
        const index = done.length;
        const own = async ({ value, warnings }: Checked<Value>): Promise<Done> => {
          const inTurn = async () => {
            if (index > 0) await checkActive(author);
            return refusable(() => alone(value, index));
          };
          const result = put ?? (await slow.run(accountId, inTurn));
          return result instanceof Problem ? result : { ...result, warnings };
        };
        done.push(read instanceof Problem ? read : await own(read));
      }
    }
    return done;

    /** Does what can be done in one write. @returns each entry, and what became of it; undefined if it is to be done alone. */
    async function together(some: readonly Entry<Value>[], first: number) {
      const all: (Checked<Value> | Problem)[] = [];
      for (const entry of some) {
        all.push(await refusable(() => entry.read()));
        if (slice.isOver()) await slice.next();
      }
      const values = all.flatMap((read) => (read instanceof Problem ? [] : read.value));
      const externalIds = values.flatMap(({ external_id }) => external_id ?? []);
      const holders = await store.externalIds.holdersOf(accountId, externalIds);
      const idOf = ({ id, external_id }: Named) => id ?? holders.get(external_id);
      const ids = values.flatMap((value) => idOf(value) ?? []);
      const records = await reader.several(accountId, ids);
      const plans: Plan[] = [];
      for (const [n, read] of all.entries()) {
        const value: Named = read instanceof Problem ? {} : read.value;
        const { id, external_id } = value;
        const names = [id, external_id].filter((name) => name != null);
        const known = records.find((record) => record.id === idOf(value));
        // It is damaged, erased, not read, or has lost the external_id meanwhile. Or an earlier entry changes it: then the later
        // one finds what that one has written.
        const isAlone =
          read instanceof Problem ||
          (known === undefined && idOf(value) !== undefined) ||
          (id === undefined && known !== undefined && known.external_id !== external_id) ||
          names.some((name) => named.has(name));
        const planned = isAlone ? ALONE : await refusable(() => plan(read.value, known, first + n));
        plans.push(planned instanceof Problem ? ALONE : planned);
        for (const name of [...names, ...namesIn(plans[n])]) named.add(name);
        if (slice.isOver()) await slice.next();
      }
      const written = await batches.write(author, plans.filter(isWrite));
      const puts = plans.map((each): Put | undefined => {
        if (!isWrite(each)) return each;
        const record = written.shift();
        return record && { record, outcome: "draft" in each ? "created" : "updated" };
      });
      return all.map((read, n) => ({ read, put: puts[n] }));
    }
  }

  return { create, update };
}

function planned(before: CandidateRecord, after: CandidateRecord): Plan {
  return after === before ? { record: before, outcome: "unchanged" } : { before, after };
}

function isWrite(plan: Plan): plan is Write {
  return plan !== undefined && !("record" in plan);
}

/** Returns the names of the candidate that a plan changes. */
function namesIn(plan: Plan): string[] {
  return plan && "before" in plan ? [plan.before.id, plan.before.external_id].filter((name) => name !== null) : [];
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
