import { createHash } from "node:crypto";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { stringify } from "csv-stringify/sync";
import type { AuditDetails } from "../audit/store.ts";
import { parseEntry } from "../api/entries.ts";
import { checker } from "../api/input.ts";
import { CandidateInput, type OnConflict } from "../candidates/input-schema.ts";
import type { CandidateReader } from "../candidates/reader.ts";
import type { Outcome } from "../candidates/service.ts";
import type { System } from "../compose.ts";
import { idsFrom, newTypeId } from "../infra/ids.ts";
import { Problem, problem, RESTORING } from "../problems.ts";
import type { Checked } from "../schema/entry.ts";
import { isObject } from "../schema/merge-patch.ts";
import { harmless, REFUSAL_COLUMNS } from "./candidate-columns.ts";
import type { CommandContext } from "./command.ts";
import type { Operations } from "./operations.ts";
import { type FileRow, openRows } from "./rows.ts";

/** The time in the ids of imported candidates, which depend on the row alone. */
const ID_TIME = Date.UTC(2026, 0, 1);

interface Options {
  readonly account: string;
  readonly onConflict?: OnConflict | undefined;
  readonly dryRun?: true | undefined;
  /** False with --no-outreach. */
  readonly outreach: boolean;
}

/** Creates an account's candidates from a file. Ctrl-C ends it after the rows under way. */
export async function importCandidates(
  operations: Operations,
  { stderr }: CommandContext,
  file: string,
  options: Options,
): Promise<object> {
  const { account: accountId, onConflict = "refuse", dryRun = false, outreach } = options;
  const { names, batches, progress } = await openRows(file);
  await (await operations.accountStore()).get(accountId);
  if (!dryRun) operations.actor();
  if (!dryRun && outreach)
    stderr.write("Whoever is started later is mailed, and so are the referees. To mail nobody, add --no-outreach.\n");
  const [audit, reader] = [await operations.audit(), await operations.candidates()];
  const refused = await refusedFile(file, names);
  const counts = { rows: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
  const show = progressOn(stderr);
  const system = await operations.system();
  const interrupt = new AbortController();
  const stop = () => interrupt.abort(new Error("Interrupted"));
  process.once("SIGINT", stop);

  async function work(): Promise<void> {
    const put = putter(system, reader, options);
    try {
      for await (const batch of batches) {
        interrupt.signal.throwIfAborted();
        for (const [n, result] of (await put(batch)).entries()) {
          counts.rows++;
          counts[result instanceof Problem ? "failed" : result]++;
          if (result instanceof Problem) await refused.add(batch[n]!, result);
        }
        show(counts.rows, progress());
      }
    } catch (cause) {
      throw new Error(`Stopped after ${counts.rows} rows. To go on, run the same command again`, { cause });
    }
  }

  const audited = (action: string, details: AuditDetails) => ({ action, accountId, subject: basename(file), details });
  try {
    if (dryRun) await work();
    else
      await audit.around(audited("candidates import", { on_conflict: onConflict, outreach }), async () => {
        try {
          await work();
        } finally {
          await audit.around(audited("candidates imported", { ...counts }), () => Promise.resolve());
        }
      });
  } finally {
    process.off("SIGINT", stop);
    await system.close();
    if (counts.failed === 0) await rm(refused.path);
  }
  return { object: dryRun ? "dry_run" : "import", ...counts, refused_file: counts.failed > 0 ? refused.path : null };
}

/**
 * Returns a function that puts rows into an account, or with `dryRun` says what would become of them. Without `onConflict` a
 * candidate's id follows from its row, and from how many equal rows stand before it: a second run finds what the first has
 * created, even if other rows were edited.
 */
function putter(system: System, reader: CandidateReader, { account, onConflict, dryRun, outreach }: Options) {
  const { bulks, candidates } = system;
  const check = checker(CandidateInput, "row");
  const equalRows = new Map<number, number>();
  const externalIds = new Set<string>(); // only of a dry run

  function idOf(json: string): string {
    if (onConflict !== undefined) return newTypeId("cand");
    const hash = createHash("sha256").update(json).digest().readUIntBE(0, 6);
    const count = equalRows.get(hash) ?? 0;
    equalRows.set(hash, count + 1);
    return idsFrom(`import ${account} ${count} ${json}`, ID_TIME)("cand");
  }

  function read({ json, fault }: FileRow): Checked<CandidateInput> {
    if (fault !== undefined) throw fault;
    const body = parseEntry(Buffer.from(json));
    return check(outreach || !isObject(body) ? body : { ...body, outreach_enabled: false });
  }

  async function rehearse(row: FileRow): Promise<Outcome | Problem> {
    try {
      const { value } = read(row);
      const { outcome = "created" } = await candidates.rehearse(account, value, newTypeId, onConflict);
      if (!value.external_id || onConflict !== undefined) return outcome;
      if (externalIds.has(value.external_id))
        throw problem("external_id_taken", "An earlier row has this external_id.");
      externalIds.add(value.external_id);
      return outcome;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return error;
      throw error;
    }
  }

  return async (rows: readonly FileRow[]): Promise<(Outcome | Problem)[]> => {
    if (system.isRestoring()) throw new Problem(RESTORING);
    const ids = rows.map(({ json }) => idOf(json));
    const before = onConflict === undefined ? await reader.named(account, ids, []) : [];
    const results = new Map<string, Outcome | Problem>(before.map(({ id }) => [id, "unchanged"]));
    const open = rows.map((row, n) => ({ row, id: ids[n]! })).filter(({ id }) => !results.has(id));
    if (dryRun) for (const { id, row } of open) results.set(id, await rehearse(row));
    else {
      const entries = open.map(({ row }) => ({ size: row.json.length, label: null, read: () => read(row) }));
      const queue = open.map(({ id }) => id);
      const done = await bulks.create(account, entries, { newId: () => queue.shift()!, onConflict });
      for (const [n, each] of done.entries()) results.set(open[n]!.id, each instanceof Problem ? each : each.outcome);
    }
    return ids.map((id) => results.get(id)!);
  };
}

/** Creates the file of refused rows anew. */
async function refusedFile(file: string, names: readonly string[]) {
  const path = `${file.slice(0, -extname(file).length)}.refused.csv`;
  const kept = names.flatMap((name, at) => (REFUSAL_COLUMNS.includes(name) ? [] : at));
  const header = stringify([[...kept.map((at) => names[at]), ...REFUSAL_COLUMNS]]);
  await writeFile(path, header, { mode: 0o600 });
  return {
    path,
    async add({ values, number }: FileRow, { message, extras: { errors = [] } }: Problem): Promise<void> {
      const all = errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join("; ");
      const cells = kept.map((at) => (typeof values[at] === "string" ? harmless(values[at]) : ""));
      await appendFile(path, stringify([[...cells, String(number), errors.length > 1 ? all : message]]));
    },
  };
}

/** Returns a function that shows how far an import is, if standard error is a terminal. @param part from 0 to 1. */
function progressOn(stderr: CommandContext["stderr"]): (rows: number, part: number) => void {
  const began = Date.now();
  return (rows, part) => {
    if (!stderr.isTTY) return;
    const seconds = (Date.now() - began + 1) / 1000;
    const left = Math.ceil((seconds / part - seconds) / 60);
    stderr.write(`\r${rows} rows, ${Math.round(rows / seconds)} a second, ${left} min to go${part < 1 ? "  " : "\n"}`);
  };
}
