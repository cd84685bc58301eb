import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline, Readable } from "node:stream";
import { parse } from "csv-parse";
import { MAX_JSON_BYTES } from "../http/body.ts";
import { invalid, type Problem } from "../problems.ts";
import { candidateOf, columnOf, valueIn } from "./candidate-columns.ts";

/** Columns of a file of refused rows, which is imported again once it is corrected. */
export const REFUSAL_COLUMNS = ["row", "reason"];
/** NDJSON as CSV of one column: no quotes, and a delimiter that JSON does not contain. */
const LINES = { quote: null, escape: null, delimiter: "\0", record_delimiter: "\n" };
/** Rows that are written together. */
const BATCH = 100;

/** The column of an NDJSON file, and of its refused lines. */
const LINE = "line";

export interface FileRow {
  /** From 1, as a spreadsheet or an editor shows it. */
  readonly number: number;
  /** Null for an empty cell. */
  readonly values: readonly (string | null)[];
  /** The candidate. */
  readonly json: string;
  /** Why it is refused already. */
  readonly fault?: Problem | undefined;
}

/** Opens a file of candidates, and checks the names of its columns. `progress` returns from 0 to 1. @throws {Error} */
export async function openRows(file: string) {
  const isCsv = /\.csv$/i.test(file);
  if (!isCsv && !/\.ndjson$/i.test(file))
    throw invalid("/file", "", `${basename(file)} must end with .csv or .ndjson. Nothing was changed.`);
  const { size } = await stat(file);
  const source = createReadStream(file);
  // An unclosed quote makes one record of the rest of the file.
  const parser = parse({ relax_column_count: true, max_record_size: 2 * MAX_JSON_BYTES, ...(isCsv ? {} : LINES) });
  // Leaves out the byte order mark.
  const decoded = Readable.toWeb(source).pipeThrough(new TextDecoderStream("utf-8", { fatal: true }));
  pipeline(decoded, parser, () => undefined); // the parser passes on what fails
  const records = (parser as AsyncIterable<string[]>)[Symbol.asyncIterator]();
  const header = isCsv ? await records.next() : { value: [LINE], done: false };
  if (header.done) throw new Error("The file is empty. Its first row must name the columns.");
  const names: readonly string[] = header.value;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`The file has the column '${twice}' twice. Nothing was changed.`);
  const used = names.filter((name) => name !== LINE && !REFUSAL_COLUMNS.includes(name)).toSorted();
  const columns = used.map((name) => ({ ...columnOf(name), at: names.indexOf(name) }));

  function rowOf(number: number, cells: readonly string[]): FileRow {
    const values = cells.map(isCsv ? valueIn : (line) => line.trim());
    const isWhole = cells.length >= names.length && values.slice(names.length).every((value) => value === null);
    const must = `must have ${names.length} cells and has ${cells.length}: put a cell with a comma into quotes`;
    const json = names.includes(LINE) ? values[names.indexOf(LINE)] : JSON.stringify(candidateOf(columns, values));
    return { number, values, json: json ?? "", fault: isWhole ? undefined : invalid("/row", must) };
  }

  async function* batches(): AsyncGenerator<FileRow[]> {
    let batch: FileRow[] = [];
    for (let number = isCsv ? 2 : 1; ; number++) {
      const { value: cells, done } = await records.next();
      if (!done && cells.some((cell) => cell.trim() !== "")) batch.push(rowOf(number, cells));
      if (batch.length === BATCH || (done && batch.length > 0)) {
        yield batch;
        batch = [];
      }
      if (done) return;
    }
  }
  return { names, batches: batches(), progress: () => source.bytesRead / size };
}
