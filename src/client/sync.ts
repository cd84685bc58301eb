import { bulkCall, type ImportOptions } from "./bulk.ts";
import { differenceOf, keyOf } from "./compare.ts";
import { ProblemError, RateLimitError } from "./errors.ts";
import type { MirrorRow } from "./mirror.ts";
import type { Call, CallOptions } from "./transport.ts";
import type { Bulk, CandidateInput, Problem } from "./types.gen.ts";

export type Rows = Iterable<CandidateInput> | AsyncIterable<CandidateInput>;
type Stored = Iterable<MirrorRow> | AsyncIterable<MirrorRow>;

export interface SyncOptions extends Pick<ImportOptions, "unreadable"> {
  /** The field by which rows and candidates are matched. */
  readonly key: "external_id";
  /** What `mirror` has stored, each candidate once. Without it, the feed is read: a request for each 1,000 candidates. */
  readonly mirror?: Stored | undefined;
  /** True to send nothing, and only say what would change. */
  readonly dryRun?: boolean | undefined;
  /** What happens to candidates with an external_id that no row has. `keep`, the default, leaves them. */
  readonly gone?: "keep" | "withdraw" | "erase" | undefined;
  /** Maximum number of candidates to withdraw or erase. By default a tenth of those with an external_id, or up to 10 of fewer than 100, but at most half. */
  readonly maxGone?: number | undefined;
  /** Called after each request that changes something. */
  readonly onProgress?: ((progress: SyncProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Counts {
  created: number;
  updated: number;
  unchanged: number;
  /** Candidates that no row has. With `withdraw`, those that were not withdrawn before. */
  gone: number;
}

export interface SyncProgress extends Counts {
  /** Changes that were sent, of `total`. */
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** Estimated seconds until the end. */
  readonly etaSeconds: number;
}

export interface SyncChange {
  readonly external_id: string;
  readonly action: "create" | "update" | "withdraw" | "erase";
  /** What an update changes. */
  readonly fields?: readonly string[];
}

export interface SyncResult extends Counts {
  readonly failed: { readonly external_id: string; readonly problem: Partial<Problem> }[];
  /** What was sent, or with `dryRun` would be. */
  readonly changes: SyncChange[];
}

/** `sync` refuses the rows, or would withdraw or erase too many. Nothing was sent. */
export class SyncRefused extends Error {
  override readonly name = "SyncRefused";
}

/** The calls that it makes. */
interface Calls {
  stored(): Stored;
  bulk(call: Call): Promise<Bulk>;
  erase(id: string, options: CallOptions): Promise<void>;
}

/** One candidate to change. */
interface Step {
  readonly change: SyncChange;
  readonly id?: string;
  readonly body: object;
}

/** Most entries and bytes of a request. */
const MAX_ENTRIES = 100;
const MAX_BYTES = 8 * 1024 * 1024 - 1024;

export async function sync(rows: Rows, options: SyncOptions, calls: Calls): Promise<SyncResult> {
  const { dryRun, gone = "keep", unreadable, signal, onProgress } = options;
  const { patches, puts, leaving, known, ...counts } = await compared(rows, options, calls);
  const changes = [patches, puts, gone === "keep" ? [] : leaving].flat();
  const listed = changes.map(({ change }) => change);
  const result: SyncResult = { ...counts, gone: leaving.length, failed: [], changes: listed };
  if (dryRun === true) return result;
  const maxGone = options.maxGone ?? Math.max(known / 10, Math.min(10, known / 2));
  if (gone !== "keep" && leaving.length > maxGone)
    throw new SyncRefused(`${leaving.length} of ${known} candidates would be gone. If that is right, set maxGone.`);
  Object.assign(result, { created: 0, updated: 0, gone: gone === "keep" ? leaving.length : 0 });

  const begin = performance.now();
  let done = 0;
  const progress = (count: number): void => {
    done += count;
    const { created, updated, unchanged, gone, failed } = result;
    const total = changes.length;
    const etaSeconds = (((performance.now() - begin) / done) * (total - done)) / 1000;
    onProgress?.({ done, total, created, updated, unchanged, gone, failed: failed.length, etaSeconds });
  };
  const send = async (method: "POST" | "PATCH", steps: readonly Step[], note: (bulk: Bulk) => void) => {
    for (let at = 0, max = MAX_ENTRIES; at < steps.length;) {
      const few = chunkOf(steps, at, max);
      try {
        const body = few.map((step) => step.body);
        const bulk = await calls.bulk(bulkCall(method, body, { signal, unreadable, onConflict: "update" }));
        note(bulk);
        for (const { index, problem } of bulk.results)
          if (problem !== undefined) result.failed.push({ external_id: few[index]?.change.external_id ?? "", problem });
        max = MAX_ENTRIES;
      } catch (error) {
        const isTooLarge = error instanceof ProblemError && error.status === 413 && few.length === 1;
        if (isTooLarge) result.failed.push({ external_id: few[0]?.change.external_id ?? "", problem: error.problem });
        else if (error instanceof RateLimitError && error.remaining > 0 && error.remaining < few.length) {
          max = error.remaining; // what is left of the limit would expire while the whole waits
          continue;
        } else throw error;
      }
      at += few.length;
      progress(few.length);
    }
  };
  const noteChanges = ({ created, updated, unchanged }: Bulk): void => {
    result.created += created;
    result.updated += updated;
    result.unchanged += unchanged;
  };
  await send("PATCH", patches, noteChanges);
  await send("POST", puts, noteChanges);
  if (gone === "withdraw")
    await send("PATCH", leaving, ({ updated, unchanged }) => void (result.gone += updated + unchanged));
  // Last: if the run ends before, nothing is lost whose successor is not there.
  if (gone === "erase")
    for (const { id = "" } of leaving) {
      await calls.erase(id, { signal }).catch(unlessErased);
      result.gone++;
      progress(1);
    }
  return result;
}

/** Compares all rows with what the service has. */
async function compared(rows: Rows, { mirror, gone, unreadable }: SyncOptions, calls: Calls) {
  const wanted = await byKey(rows);
  const found = new Map<string, { key: string; step?: Step; whole?: boolean; isGone?: boolean }>();
  for await (const candidate of mirror ?? calls.stored()) {
    const key = candidate.deleted ? null : candidate.external_id;
    const { id } = candidate;
    if (candidate.deleted || key === null) {
      found.delete(id);
      continue;
    }
    const row = wanted.get(key);
    if (row === undefined) {
      const action = gone === "erase" ? "erase" : "withdraw";
      const step: Step = { change: { external_id: key, action }, id, body: { id, withdrawn: true } };
      const isDone = gone === "withdraw" && candidate.withdrawn;
      found.set(id, { key, isGone: true, ...(isDone ? {} : { step }) });
      continue;
    }
    const difference = differenceOf(row, candidate, unreadable === "metadata");
    if (difference === undefined) found.set(id, { key });
    else {
      const { fields, patch, whole } = difference;
      const body = whole ? row : { ...patch, external_id: key };
      found.set(id, { key, whole, step: { change: { external_id: key, action: "update", fields }, body } });
    }
  }
  const known = [...found.values()];
  const stepsOf = (kind: (each: (typeof known)[number]) => boolean) =>
    known.filter(kind).flatMap(({ step }) => step ?? []);
  const keys = new Set(known.map(({ key }) => key));
  const created = Array.from(wanted).filter(([key]) => !keys.has(key));
  const patches = stepsOf(({ whole }) => whole === false);
  const puts = stepsOf(({ whole }) => whole === true);
  const leaving = stepsOf(({ isGone }) => isGone === true);
  const updated = patches.length + puts.length;
  for (const [external_id, body] of created) puts.push({ change: { external_id, action: "create" }, body });
  const unchanged = wanted.size - created.length - updated;
  return { patches, puts, leaving, known: known.length, created: created.length, updated, unchanged };
}

/** @throws SyncRefused for a row without external_id, and for an external_id that two rows have. */
async function byKey(rows: Rows): Promise<Map<string, CandidateInput>> {
  const wanted = new Map<string, CandidateInput>();
  const refused: string[] = [];
  let at = 0;
  for await (const row of rows) {
    const key = keyOf(row);
    if (key === undefined) refused.push(`row ${at} has no external_id`);
    else if (wanted.has(key)) refused.push(`two rows have the external_id ${key}`);
    else wanted.set(key, row);
    at++;
  }
  if (refused.length === 0) return wanted;
  const more = refused.length > 10 ? `, and ${refused.length - 10} more` : "";
  throw new SyncRefused(`The rows cannot be matched: ${refused.slice(0, 10).join(", ")}${more}.`);
}

/** Returns the next steps that fit into one request: at least one. */
function chunkOf(steps: readonly Step[], at: number, max: number): Step[] {
  let bytes = 0;
  const next = steps.slice(at, at + max);
  return next.filter(({ body }, n) => {
    bytes += new TextEncoder().encode(JSON.stringify(body)).length + 1;
    return bytes <= MAX_BYTES || n === 0;
  });
}

/** What is erased already is nothing to do. */
function unlessErased(error: unknown): void {
  if (!(error instanceof ProblemError && [404, 410].includes(error.status))) throw error;
}
