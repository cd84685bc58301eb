import { pipeline } from "node:stream/promises";
import { stringify } from "csv-stringify/sync";
import { CandidateReader } from "../candidates/reader.ts";
import type { CandidateList } from "../candidates/row-schema.ts";
import type { Candidate } from "../candidates/schema.ts";
import { cellsOf, columnsFor, inputOf } from "./candidate-columns.ts";
import { type CommandContext, patiently } from "./command.ts";
import type { Operations } from "./operations.ts";

/** Writes an account's candidates to standard output, as import reads them. @throws {Error} in the end, if some are damaged. */
export async function exportCandidates(
  operations: Operations,
  { stdout }: CommandContext,
  { account, format }: { account: string; format: "csv" | "ndjson" },
): Promise<undefined> {
  await (await operations.accountStore()).get(account);
  const reader = new CandidateReader(await operations.mongo());
  const unreadable = new Set<string>();
  const texts = textsOf(format, () => candidatesOf(reader, account, unreadable));
  const audited = { action: "candidates export", accountId: account, subject: account, details: { format } };
  const audit = await operations.audit();
  await audit.around(audited, () => pipeline(texts, stdout, { end: false }));
  if (unreadable.size === 0) return;
  throw new Error(`The export lacks candidates whose records are damaged: ${[...unreadable].join(", ")}`);
}

/** Reads the candidates twice for CSV: the first time for the names of the columns. */
async function* textsOf(format: string, read: () => AsyncIterable<Candidate>): AsyncGenerator<string> {
  if (format === "ndjson") {
    for await (const candidate of read()) yield `${JSON.stringify(inputOf(candidate))}\n`;
    return;
  }
  const labels = new Set<string>();
  let count = 0;
  for await (const { metadata, references } of read()) {
    for (const name of Object.keys(metadata)) labels.add(name);
    count = Math.max(count, references.length);
  }
  const columns = columnsFor(labels, count);
  yield stringify([columns.map(({ name }) => name)]);
  for await (const candidate of read()) {
    const { id, metadata, references } = candidate;
    if (references.length > count || Object.keys(metadata).some((name) => !labels.has(name)))
      throw new Error(`${id} was changed meanwhile, and needs another column. Export again.`);
    yield stringify([cellsOf(columns, candidate)]);
  }
}

/** Yields each candidate once, even if it changes meanwhile. Remembers the ids: about 100 bytes for each. */
async function* candidatesOf(reader: CandidateReader, accountId: string, unreadable: Set<string>) {
  const seen = new Set<string>();
  for (let after = "", more = true; more;) {
    const query = { accountId, after, limit: 1_000 };
    const page = await patiently(() => reader.feed(query));
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
