import { createHash } from "node:crypto";
import { appendFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { stringify } from "csv-stringify/sync";
import { parseEntry } from "../api/entries.ts";
import { checker } from "../api/input.ts";
import type { AuditDetails } from "../audit/entry.ts";
import { refusable } from "../candidates/bulk.ts";
import { CandidateInput, type OnConflict } from "../candidates/input-schema.ts";
import type { Author } from "../candidates/record.ts";
import { CandidateReader } from "../candidates/reader.ts";
import type { Outcome } from "../candidates/service.ts";
import type { System } from "../compose.ts";
import { idsFrom, newTypeId } from "../infra/ids.ts";
import { invalid, Problem, problem, RESTORING } from "../problems.ts";
import { isObject } from "../schema/merge-patch.ts";
import { harmless } from "./candidate-columns.ts";
import { type CommandContext, patiently } from "./command.ts";
import type { Operations } from "./operations.ts";
import { type FileRow, openRows, REFUSAL_COLUMNS } from "./rows.ts";

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
  const accounts = await operations.accountStore();
  await accounts.get(accountId);
  const by = { type: "operator", id: dryRun ? "nobody" : operations.actor() } as const;
  if (!dryRun && outreach)
    stderr.write("Whoever is started later is mailed, and so are the referees. To mail nobody, add --no-outreach.\n");
  const [audit, reader] = [await operations.audit(), new CandidateReader(await operations.mongo())];
  const audited = (action: string, details: AuditDetails) => ({ action, accountId, subject: basename(file), details });
  const refused = `${file.slice(0, -extname(file).length)}.refused.csv`;
  const kept = names.filter((name) => !REFUSAL_COLUMNS.includes(name));
  await rename(refused, `${refused}~`).catch(() => undefined); // somebody may have corrected it
  await writeFile(refused, stringify([[...kept, ...REFUSAL_COLUMNS]]), { mode: 0o600 });
  const counts = { rows: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
  const began = Date.now();
  const system = await operations.system();
  const interrupt = new AbortController();
  const put = putter(system, reader, { ...options, author: { accountId, by }, signal: interrupt.signal });
  const stop = () => interrupt.abort(invalid("", "", "Interrupted by the operator"));
  process.once("SIGINT", stop);

  async function work(): Promise<void> {
    for await (const batch of batches) {
      interrupt.signal.throwIfAborted();
      await patiently(() => accounts.get(accountId), interrupt.signal); // it may have been erased meanwhile
      const results = await put(batch);
      counts.rows += results.length;
      for (const result of results) counts[result instanceof Problem ? "failed" : result]++;
      for (const [n, result] of results.entries()) {
        if (!(result instanceof Problem)) continue;
        const { values, number } = batch[n]!;
        const [cells, others] = [kept.map((name) => values[names.indexOf(name)] ?? null), values.slice(names.length)];
        const row = [...cells.map(harmless), String(number), reasonOf(result), ...others.map(harmless)];
        await appendFile(refused, stringify([row]));
      }
      const seconds = (Date.now() - began) / 1000;
      const [speed, left] = [counts.rows / seconds, (seconds / progress() - seconds) / 60];
      if (stderr.isTTY)
        stderr.write(`\r${counts.rows} rows, ${Math.round(speed)} a second, ${Math.ceil(left)} min to go  `);
    }
  }

  try {
    if (dryRun) await work();
    else await audit.around(audited("candidates import", { on_conflict: onConflict, outreach }), work);
  } catch (cause) {
    const advice = cause instanceof Problem ? "To go on," : "Mend what is named here, and";
    throw new Error(`Stopped after ${counts.rows} rows. ${advice} run the same command again`, { cause });
  } finally {
    process.off("SIGINT", stop);
    if (stderr.isTTY) stderr.write("\n");
    await system.close();
    if (counts.failed === 0) await rm(refused);
    const ended = audited("candidates imported", counts);
    if (!dryRun) await audit.around(ended, () => Promise.resolve()).catch(() => undefined);
  }
  return { object: dryRun ? "dry_run" : "import", ...counts, refused_file: counts.failed > 0 ? refused : null };
}

/**
 * Returns a function that puts rows into an account, or says what would become of them. Without `onConflict` a candidate's id
 * follows from its row, and from how many equal rows stand before it: so a second run finds what the first has created.
 */
function putter(
  system: System,
  reader: CandidateReader,
  options: Options & { readonly author: Author; readonly signal: AbortSignal },
) {
  const { account, author, onConflict, dryRun, outreach, signal } = options;
  const check = checker(CandidateInput, "row");
  const equalRows = new Map<number, number>();
  const externalIds = new Set<string>(); // only of a dry run

  function idOf({ json }: FileRow): string {
    if (onConflict !== undefined) return newTypeId("cand");
    const hash = createHash("sha256").update(json).digest().readUIntBE(0, 6);
    const count = equalRows.get(hash) ?? 0;
    equalRows.set(hash, count + 1);
    return idsFrom(`import ${account} ${count} ${json}`, ID_TIME)("cand");
  }

  function read({ json, fault }: FileRow) {
    if (fault !== undefined) throw fault;
    const body = parseEntry(Buffer.from(json));
    return check(outreach || !isObject(body) ? body : { ...body, outreach_enabled: false });
  }

  async function rehearse(row: FileRow): Promise<Outcome> {
    const { value } = read(row);
    const { outcome = "created" } = await system.candidates.rehearse(author, value, newTypeId, onConflict);
    const isRepeated = value.external_id && externalIds.size === externalIds.add(value.external_id).size;
    if (isRepeated && !onConflict) throw problem("external_id_taken", "An earlier row has this external_id.");
    return outcome;
  }

  return async (rows: readonly FileRow[]): Promise<(Outcome | Problem)[]> => {
    const all = rows.map((row) => ({ id: idOf(row), row }));
    const ids = all.map(({ id }) => id);
    const results = new Map<string, Outcome | Problem>();
    for (let some = onConflict === undefined ? ids : [], last = 0; some.length !== last;) {
      const earlier = await patiently(() => reader.several(account, some), signal);
      for (const { id, outreach_enabled } of earlier) {
        const must = `is true for ${id} of an earlier run: import the row with --on-conflict update`;
        const fault = invalid("/outreach_enabled", must);
        results.set(id, outreach_enabled && !outreach ? fault : "unchanged");
      }
      last = some.length;
      some = some.filter((id) => !results.has(id));
    }
    await patiently(async () => {
      if (system.isRestoring()) throw new Problem(RESTORING);
      const open = all.filter(({ id }) => !results.has(id));
      if (dryRun) for (const { id, row } of open) results.set(id, await refusable(() => rehearse(row)));
      else {
        const queue = open.map(({ id }) => id);
        const entries = open.map(({ row }) => ({ size: row.json.length, read: () => read(row) }));
        const done = await system.bulks.create(author, entries, { newId: () => queue.shift()!, onConflict });
        for (const [n, each] of done.entries()) results.set(open[n]!.id, "outcome" in each ? each.outcome : each);
      }
    }, signal);
    return ids.map((id) => results.get(id)!);
  };
}

function reasonOf({ message, extras: { errors = [] } }: Problem): string {
  return errors.length > 1 ? errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join("; ") : message;
}
