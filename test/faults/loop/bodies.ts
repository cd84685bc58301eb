import type { Copies } from "../../support/copies.ts";

/** Bodies that are as hard to read as the service allows. Each is a JSON text. */

const MIB = 1024 * 1024;
const MAX_VALUES = 20_000;
/** A letter or mark of every script: characters of one to four bytes, upper and lower, left and right. */
export const LETTERS = Array.from({ length: 0x3_00_00 / 29 }, (_, n) => 0x21 + n * 29)
  .map((code) => (code >= 0xd8_00 && code < 0xe0_00 ? " " : String.fromCodePoint(code)))
  .filter((letter) => /[\p{L}\p{M}]/u.test(letter));

/** Returns `count` characters of all scripts, beginning at another one for each `n`. */
export function letters(count: number, n = 0): string {
  return Array.from({ length: count }, (_, index) => LETTERS[(n * 31 + index) % LETTERS.length]).join("");
}

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const object = (count: number, member: (n: number) => string): string => `{${times(count, member).join()}}`;
const short = (n: number): string => n.toString(36);

/** Bodies that any endpoint refuses, whatever its schema. */
export const REFUSED: Record<string, string> = {
  "20,000 unknown members": object(MAX_VALUES, (n) => `"${short(n)}":0`),
  "10,000 unknown members with long names": object(10_000, (n) => `"${String(n).padStart(96, "f_")}":0`),
  "a member twice, the last of 20,000": `{${times(MAX_VALUES - 1, (n) => `"${short(n)}":0`).join()},"0":0}`,
  "20,000 texts that are not Unicode": `{"name":[${times(MAX_VALUES - 1, () => `"\\ud800"`).join()}]}`,
  "200 texts that are not Unicode, below a name of 1 MB": `{"${"a".repeat(1_000_000)}":[${times(200, () => '"\\ud800"').join()}]}`,
  "one text that is not Unicode, after 20,000": object(
    MAX_VALUES,
    (n) => `"é${short(n)}":"\\ud8${n < 19_999 ? "3d\\ude00" : "00"}"`,
  ),
  "1 MiB of items": `{"name":[${"0,".repeat(MIB / 2 - 10)}0]}`,
  "1 MiB of brackets": "[".repeat(MIB),
  "1 MiB of lines, then no JSON": `${"\n".repeat(MIB - 10)}{x}`,
  "1 MiB of text that is cut off": `{"name":"${"\\\\".repeat(MIB / 2 - 10)}`,
  "1 MiB of commas": ",".repeat(MIB),
  "20,000 members 100 levels deep": `${'{"a":'.repeat(99)}${object(19_900, (n) => `"${short(n)}":0`)}${"}".repeat(99)}`,
};

/** Bodies that an endpoint with this field refuses: each field gets a text of 1 MiB, and 20,000 items and members. */
export function wrongFields(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => [
      [`${name} of 1 MiB`, `{"${name}":"${"A/-1".repeat(MIB / 4 - 50)}"}`],
      [`${name} of 1 MiB of every script`, `{"${name}":"${letters(300_000)}"}`],
      [`${name} with 20,000 items`, `{"${name}":[${times(MAX_VALUES - 1, () => `""`).join()}]}`],
      [`${name} with 9,999 objects`, `{"${name}":[${times(9_999, (n) => `{"${short(n)}":[]}`).join()}]}`],
      [`${name} with 20,000 members`, `{"${name}":${object(MAX_VALUES - 1, (n) => `"${short(n)}":null`)}}`],
    ]),
  );
}

const metadata = (characters: number, n: number) =>
  Object.fromEntries(times(50, (m) => [`${n}_${m}`, letters(characters, n + m)]));

/** The largest response: 16 KiB of JSON. `members` are as many values as fit, `text` is one. */
export const RESPONSES = {
  text: (n: number): object => ({ said: letters(4_000, n) }),
  members: (): object => ({ list: times(499, (n) => ({ [short(n)]: {} })) }),
};

/** Candidates of nearly 1 MiB as JSON: one POST. */
export const CANDIDATES: Record<string, () => object> = {
  "200 documents with 50 members each": () => ({
    documents: times(200, (n) => ({ name: letters(60, n), metadata: n < 190 ? metadata(18, n) : {} })),
  }),
  "190 documents with the longest texts": () => ({
    documents: times(190, (n) => ({ name: letters(500, n), state: "rejected", rejection_reason: letters(1_000, n) })),
  }),
  "110 documents of control characters": () => ({
    documents: times(110, () => ({
      name: "\u0001".repeat(500),
      state: "rejected",
      rejection_reason: "\u0002".repeat(999),
    })),
  }),
  "50 references with responses of text": () => ({ references: times(50, (n) => ({ response: RESPONSES.text(n) })) }),
  "50 references with 390 values in each response": () => ({
    references: times(50, () => ({ response: Object.fromEntries(times(390, (n) => [short(n), 0])) })),
  }),
};

/** Of a record of nearly 256 KiB, the largest that is stored with its row. */
const STORED_WITH_ROW = {
  documents: times(5, (n) => ({ name: letters(60, n), metadata: metadata(290, n) })),
};

/** Pages of as many candidates as they may have. Those with `row_form: 0` have no row that can be shown as it is stored. */
export const PAGES: Record<string, Copies> = {
  "1,000 candidates": { count: 1_000 },
  "1,000 candidates without rows": { count: 1_000, changes: { row_form: 0 } },
  "1,000 deleted candidates": { count: 1_000, changes: { deleted: true } },
  "1,000 damaged records": { count: 1_000, changes: { row_form: 0, metadata: "{" } },
  "rows of 256 KiB": { count: 50, body: STORED_WITH_ROW },
  "records of 256 KiB without rows": { count: 50, body: STORED_WITH_ROW, changes: { row_form: 0 } },
  "rows of control characters": { count: 50, body: CANDIDATES["110 documents of control characters"]!() },
  "records of control characters without rows": {
    count: 50,
    body: CANDIDATES["110 documents of control characters"]!(),
    changes: { row_form: 0 },
  },
};

/** Records that are as large as they may be: one POST, and then patches of its references. */
export const LARGEST = {
  /** Nearly 2 MiB of text. */
  text: {
    create: () => ({
      documents: times(200, (n) => ({ name: letters(60, n) })),
      references: times(50, (n) => ({ state: "received", response: RESPONSES.text(n) })),
    }),
    patches: times(18, (n) => ({ metadata: metadata(400, n) })),
  },
  /** As many values as the responses can have. */
  members: {
    create: () => ({ documents: times(200, (n) => ({ name: letters(60, n) })), references: times(50, () => ({})) }),
    patches: times(50, () => ({ response: RESPONSES.members() })),
  },
};

/** A document and a reference that are nearly as large as they may be. */
export const PARTS = {
  document: (n: number) => ({ name: letters(500, n), metadata: metadata(400, n) }),
  reference: (n: number) => ({ name: letters(200, n), response: RESPONSES.members(), metadata: metadata(400, n) }),
};
