import { differenceOf, keyOf } from "./compare.ts";
import { RateLimitError } from "./errors.ts";
import type { MirrorRow } from "./mirror.ts";
import { jsonPayload } from "./payload.ts";
import type { Call, CallOptions } from "./transport.ts";
import type { Bulk, Candidate, CandidateInput, Problem } from "./types.gen.ts";

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
  /** With `unreadable`: the values that could not be read. Their texts are kept in metadata. */
  readonly warnings: { readonly external_id: string; readonly pointer: string; readonly detail: string }[];
  /** What was sent, or with `dryRun` would be. */
  readonly changes: SyncChange[];
}

/** `sync` refuses the rows, or would withdraw or erase too many. Nothing was sent. */
export class SyncRefused extends Error {
  override readonly name = "SyncRefused";
}

interface Calls {
  stored(): Stored;
  bulk(call: Call): Promise<Bulk>;
  erase(id: string, options: CallOptions): Promise<void>;
}

interface Step {
  readonly kind: "patch" | "post" | "gone";
  readonly change: SyncChange;
  readonly id?: string;
  readonly body: object;
}

/** Maximum number of entries and bytes of a request. */
const MAX_ENTRIES = 100;
const MAX_BYTES = 8 * 1024 * 1024 - 1024;

export async function sync(rows: Rows, options: SyncOptions, calls: Calls): Promise<SyncResult> {
  const { gone = "keep", unreadable, signal } = options;
  const wanted = await byKey(rows);
  const { steps, known } = await compared(wanted, options, calls);
  const of = (kind: Step["kind"]) => steps.filter((step) => step.kind === kind);
  const [patches, posts, leaving] = [of("patch"), of("post"), of("gone")];
  const changes = [...patches, ...posts, ...(gone === "keep" ? [] : leaving)].map(({ change }) => change);
  const created = changes.filter(({ action }) => action === "create").length;
  const updated = patches.length + posts.length - created;
  const unchanged = wanted.size - created - updated;
  const result: SyncResult = { created, updated, unchanged, gone: leaving.length, failed: [], warnings: [], changes };
  if (options.dryRun === true) return result;
  const maxGone = options.maxGone ?? Math.max(known / 10, Math.min(10, known / 2));
  if (gone !== "keep" && leaving.length > maxGone)
    throw new SyncRefused(`${leaving.length} of ${known} candidates would be gone. If that is right, set maxGone.`);

  Object.assign(result, { created: 0, updated: 0, gone: gone === "keep" ? leaving.length : 0 });
  const begin = performance.now();
  let done = 0;
  const progress = (count: number): void => {
    done += count;
    const { failed, warnings: _warnings, changes, ...counts } = result;
    const total = changes.length;
    const etaSeconds = (((performance.now() - begin) / done) * (total - done)) / 1000;
    options.onProgress?.({ ...counts, failed: failed.length, done, total, etaSeconds });
  };
  const send = async (method: "POST" | "PATCH", steps: readonly Step[]): Promise<void> => {
    for (let at = 0, max = MAX_ENTRIES; at < steps.length;) {
      let bytes = 0;
      const few = steps.slice(at, at + max).filter(({ body }, n) => (bytes += sizeOf(body)) <= MAX_BYTES || n === 0);
      const bodies = few.map(({ body }) => body);
      const call = bulkCall(method, bodies, { signal, unreadable, onConflict: "update" });
      const bulk = await calls.bulk(call).catch((error: unknown) => {
        if (!(error instanceof RateLimitError) || !(error.remaining >= 1 && error.remaining < few.length)) throw error;
        max = error.remaining; // what is left of the limit would expire while the whole waits
      });
      if (bulk === undefined) continue;
      if (steps === leaving) result.gone += bulk.updated + bulk.unchanged;
      else for (const name of ["created", "updated", "unchanged"] as const) result[name] += bulk[name];
      for (const { index, problem, warnings = [] } of bulk.results) {
        const { external_id = "" } = few[index]?.change ?? {};
        if (problem !== undefined) result.failed.push({ external_id, problem });
        result.warnings.push(...warnings.map((warning) => ({ external_id, ...warning })));
      }
      at += few.length;
      max = MAX_ENTRIES;
      progress(few.length);
    }
  };
  await send("PATCH", patches);
  await send("POST", posts);
  if (gone === "withdraw") await send("PATCH", leaving);
  // Last: if the run ends before, nothing is lost whose successor is not there.
  if (gone === "erase")
    for (const { id = "" } of leaving) {
      await calls.erase(id, { signal });
      result.gone++;
      progress(1);
    }
  return result;
}

/** Compares all rows with what the service has. `known` is the number of candidates with an external_id. */
async function compared(wanted: ReadonlyMap<string, CandidateInput>, options: SyncOptions, calls: Calls) {
  const found = new Map<string, { key: string; step: Step | undefined }>(); // the feed may repeat a candidate
  for await (const candidate of options.mirror ?? calls.stored()) {
    if (candidate.deleted || candidate.external_id === null) found.delete(candidate.id);
    else {
      const key = candidate.external_id;
      found.set(candidate.id, { key, step: stepFor(candidate, key, wanted.get(key), options) });
    }
  }
  const steps = Array.from(found.values()).flatMap(({ step }) => step ?? []);
  const keys = new Set(Array.from(found.values(), ({ key }) => key));
  for (const [external_id, body] of wanted)
    if (!keys.has(external_id)) steps.push({ kind: "post", change: { external_id, action: "create" }, body });
  return { steps, known: found.size };
}

function stepFor(
  known: Candidate,
  external_id: string,
  row: CandidateInput | undefined,
  { gone, unreadable }: SyncOptions,
): Step | undefined {
  const { id, withdrawn } = known;
  if (row === undefined) {
    if (gone === "withdraw" && withdrawn) return undefined;
    const action = gone === "erase" ? "erase" : "withdraw";
    return { kind: "gone", change: { external_id, action }, id, body: { id, withdrawn: true } };
  }
  const difference = differenceOf(row, known, unreadable === "metadata");
  if (difference === undefined) return undefined;
  const { fields, patch, whole } = difference;
  const change = { external_id, action: "update", fields } as const;
  return whole ? { kind: "post", change, body: row } : { kind: "patch", change, body: { ...patch, external_id } };
}

/** @throws SyncRefused for a row without external_id, and for an external_id that two rows have. */
async function byKey(rows: Rows): Promise<Map<string, CandidateInput>> {
  const wanted = new Map<string, CandidateInput>();
  const refused: string[] = [];
  for await (const row of rows) {
    const key = keyOf(row);
    if (key === undefined) refused.push(`row ${wanted.size + refused.length} has no external_id`);
    else if (wanted.has(key)) refused.push(`two rows have the external_id ${key}`);
    else wanted.set(key, row);
  }
  if (refused.length === 0) return wanted;
  const more = refused.length > 10 ? `, and ${refused.length - 10} more` : "";
  throw new SyncRefused(`The rows cannot be matched: ${refused.slice(0, 10).join(", ")}${more}.`);
}

function sizeOf(body: object): number {
  return new TextEncoder().encode(JSON.stringify(body)).length + 1;
}

export interface ImportOptions {
  /** What to do if the external_id is taken: change that candidate to what is sent, or leave it. By default it is refused. */
  readonly onConflict?: "update" | "skip" | undefined;
  /** Keeps the text of an email, phone or date that is refused in metadata, as `unreadable.FIELD`. By default it is refused. */
  readonly unreadable?: "metadata" | undefined;
}

export type CreateOptions = CallOptions & ImportOptions;

export function importQuery({ onConflict, unreadable }: ImportOptions): NonNullable<Call["query"]> {
  return { on_conflict: onConflict, unreadable };
}

/** Returns the call that creates (POST) or changes (PATCH) candidates. It counts as one request for each. */
export function bulkCall(method: "POST" | "PATCH", candidates: readonly object[], options: CreateOptions): Call {
  const count = candidates.length;
  return {
    method,
    path: "/candidates/bulk",
    surface: method === "POST" ? "create" : "writes",
    cost: count,
    query: { count, ...(method === "POST" ? importQuery(options) : {}) },
    payload: jsonPayload({ candidates }),
    options,
  };
}
