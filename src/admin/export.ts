import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { stringify } from "csv-stringify/sync";
import type { CandidateReader } from "../candidates/reader.ts";
import type { CandidateList } from "../candidates/row-schema.ts";
import type { Candidate } from "../candidates/schema.ts";
import { cellsOf, columnsFor, inputOf } from "./candidate-columns.ts";
import type { CommandContext } from "./command.ts";
import type { Operations } from "./operations.ts";

interface Source {
  readonly reader: CandidateReader;
  readonly accountId: string;
  /** Gets the ids of candidates whose records are damaged. */
  readonly unreadable: Set<string>;
}

/** Writes an account's candidates to standard output, as import reads them. @throws {Error} in the end, if some are damaged. */
export async function exportCandidates(
  operations: Operations,
  { stdout }: CommandContext,
  { account, format }: { account: string; format: "csv" | "ndjson" },
): Promise<undefined> {
  await (await operations.accountStore()).get(account);
  const source = { reader: await operations.candidates(), accountId: account, unreadable: new Set<string>() };
  const audited = { action: "candidates export", accountId: account, subject: account, details: { format } };
  await (
    await operations.audit()
  ).around(audited, () =>
    pipeline(Readable.from(format === "csv" ? csvOf(source) : linesOf(source)), stdout, { end: false }),
  );
  if (source.unreadable.size === 0) return;
  throw new Error(`All but those whose records are damaged: ${[...source.unreadable].join(", ")}`);
}

async function* linesOf(source: Source): AsyncGenerator<string> {
  for await (const candidate of candidatesIn(source)) yield `${JSON.stringify(inputOf(candidate))}\n`;
}

/** Reads all candidates twice: the first time for the names of the columns. */
async function* csvOf(source: Source): AsyncGenerator<string> {
  const labels = new Set<string>();
  let references = 0;
  for await (const candidate of candidatesIn(source)) {
    for (const name of Object.keys(candidate.metadata)) labels.add(name);
    references = Math.max(references, candidate.references.length);
  }
  const columns = columnsFor(labels, references);
  yield stringify([columns.map(({ name }) => name)]);
  for await (const candidate of candidatesIn(source)) {
    if (candidate.references.length > references || Object.keys(candidate.metadata).some((name) => !labels.has(name)))
      throw new Error(`${candidate.id} was changed meanwhile, and needs another column. Export again.`);
    yield stringify([cellsOf(columns, candidate)]);
  }
}

/** Yields each candidate once, even if it changes meanwhile. Remembers the ids: about 100 bytes for each. */
async function* candidatesIn({ reader, accountId, unreadable }: Source): AsyncGenerator<Candidate> {
  const seen = new Set<string>();
  for (let after = "", more = true; more;) {
    const page = await reader.feed({ accountId, after, limit: 1_000 });
    more = page.more || page.rows.some(({ json }) => json === undefined); // it was changed just now, and comes later
    after = page.rows.at(-1)?.change ?? after;
    for (const { json } of page.rows) {
      if (json === undefined) continue;
      const row = JSON.parse(Buffer.from(json).toString()) as CandidateList["data"][number];
      if ("unreadable" in row) unreadable.add(row.id);
      if ("unreadable" in row || "deleted" in row || seen.has(row.id)) continue;
      seen.add(row.id);
      yield row;
    }
  }
}
