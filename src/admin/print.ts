import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A list of any length, whose rows are printed as they come. */
export interface Rows {
  readonly rows: AsyncIterable<object>;
}

/** Makes a list that `print` writes as `{ "object": "list", "data": […] }`, without holding its rows in memory. */
export function listOf(rows: AsyncIterable<object>): Rows {
  return { rows };
}

/**
 * Writes one JSON value and a line break, indented by two spaces. Nothing is written before the first row is there, so a
 * command that fails at once prints no JSON. If a later row fails, the JSON is cut off; the exit code is then 1.
 */
export async function print(answer: object, output: NodeJS.WritableStream): Promise<void> {
  const pieces = "rows" in answer ? listText(answer as Rows) : [`${JSON.stringify(answer, null, 2)}\n`];
  await pipeline(Readable.from(pieces), output, { end: false });
}

async function* listText({ rows }: Rows): AsyncGenerator<string, void> {
  let before = '{\n  "object": "list",\n  "data": [\n';
  let any = false;
  for await (const row of rows) {
    yield before + JSON.stringify(row, null, 2).replaceAll(/^/gm, "    ");
    before = ",\n";
    any = true;
  }
  yield any ? "\n  ]\n}\n" : '{\n  "object": "list",\n  "data": []\n}\n';
}
