import type { TSchema } from "typebox";
import { nearest } from "../api/validate.ts";
import { DocumentInput } from "../candidates/document-schema.ts";
import { CandidateInput } from "../candidates/input-schema.ts";
import { ReferenceInput } from "../candidates/reference-schema.ts";
import { type Candidate, MAX_REFERENCES } from "../candidates/schema.ts";
import { propertiesOf } from "../schema/fields.ts";

const FIELDS = scalarsOf(CandidateInput);
const REFERENCE_FIELDS = scalarsOf(ReferenceInput);

/** Columns of a file of refused rows, which is imported again once it is corrected. */
export const REFUSAL_COLUMNS = ["row", "reason"];

/** Returns the type of each field that fits into one cell. */
function scalarsOf(schema: TSchema): ReadonlyMap<string, string> {
  const fields = Object.entries(propertiesOf(schema)).map(([name, { type }]) => {
    return [name, ["boolean", "integer", "string"].find((kind) => [type].flat().includes(kind))] as const;
  });
  return new Map(fields.flatMap(([name, kind]) => (kind === undefined ? [] : [[name, kind]])));
}

/** First characters with which a spreadsheet runs a cell as a formula, and the apostrophe that `harmless` puts before them. */
const RISKY = /^[=+\-@\t\r\n＝＋－＠']/;

/** Returns the cell of a value. It begins with an apostrophe if a spreadsheet would run it, or if the value is empty. */
export function harmless(value: string): string {
  return value === "" || RISKY.test(value) ? `'${value}` : value;
}

/** Returns the value of a cell that `harmless` or a person wrote. Null for an empty cell: no value. */
export function valueIn(cell: string): string | null {
  if (cell === "'" || (cell.startsWith("'") && RISKY.test(cell.slice(1)))) return cell.slice(1);
  return cell === "" ? null : cell;
}

/** A column: where its value is in a candidate (CandidateInput), and its type. */
export interface Column {
  readonly name: string;
  readonly path: readonly (string | number)[];
  readonly kind: string;
}

/** Returns a column by its name: a field, `documents`, `metadata.NAME`, or `reference1.email` and so on. @throws {Error} */
export function columnOf(name: string): Column {
  const [, label] = /^metadata\.(.+)$/s.exec(name) ?? [];
  if (label !== undefined) return { name, path: ["metadata", label], kind: "string" };
  if (name === "documents") return { name, path: [name], kind: "names" };
  const [, number = "1", member = ""] = /^reference([1-9]\d?)\.(.*)$/s.exec(name) ?? [];
  const path = member === "" ? [name] : ["references", Number(number) - 1, member];
  const kind = member === "" ? FIELDS.get(name) : REFERENCE_FIELDS.get(member);
  if (kind !== undefined && Number(number) <= MAX_REFERENCES) return { name, path, kind };
  const known = [
    "documents",
    ...FIELDS.keys(),
    ...[...REFERENCE_FIELDS.keys()].map((each) => `reference${number}.${each}`),
  ];
  const near = nearest(name, known);
  const advice = near === undefined ? `Leave it out, or call it metadata.${name}` : `Did you mean ${near}?`;
  throw new Error(`The file has an unknown column '${name}'. Nothing was changed. ${advice}`);
}

/** Returns all columns of candidates with these labels and this number of references. */
export function columnsFor(labels: Iterable<string>, references: number): Column[] {
  const numbers = Array.from({ length: references }, (_, n) => n + 1);
  const ofReferences = numbers.flatMap((n) => [...REFERENCE_FIELDS.keys()].map((name) => `reference${n}.${name}`));
  const ofLabels = [...labels].toSorted().map((label) => `metadata.${label}`);
  return [...FIELDS.keys(), "documents", ...ofLabels, ...ofReferences].map(columnOf);
}

type Tree = Record<string | number, unknown>;

/** Makes a candidate of the values of a row. Equal rows make equal JSON, in any order of the columns: sort them by name. */
export function candidateOf(
  columns: readonly (Column & { readonly at: number })[],
  values: readonly (string | null)[],
) {
  const row: Tree = {};
  for (const { path, kind, at } of columns) {
    const text = values[at] ?? null;
    if (text === null) continue;
    let owner = row;
    for (const [n, key] of path.slice(0, -1).entries())
      owner = (owner[key] ??= typeof path[n + 1] === "number" ? [] : Object.create(null)) as Tree;
    owner[path.at(-1)!] = converted(text, kind);
  }
  if (Array.isArray(row["references"])) row["references"] = row["references"].filter(() => true); // leaves out holes
  return row;
}

/** Leaves a text that is not of that kind as it is: validation says what it must be. */
function converted(text: string, kind: string): unknown {
  if (kind === "boolean" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (kind === "integer" && /^\d{1,9}$/.test(text)) return Number(text);
  if (kind !== "names") return text;
  const names = text.match(/(?:\\[\\;]|[^;])+/g) ?? []; // a backslash stands before ; and \ that belong to a name
  return names.filter((name) => name.trim() !== "").map((name) => name.replaceAll(/\\([\\;])/g, "$1"));
}

/** Returns a candidate's cells. */
export function cellsOf(columns: readonly Column[], candidate: Candidate): string[] {
  const input = inputOf(candidate);
  const names = input.documents.map(({ name }) => String(name).replaceAll(/[\\;]/g, "\\$&"));
  const row = { ...input, documents: names.length === 0 ? undefined : names.join(";") };
  return columns.map(({ path }) => {
    const value = path.reduce<unknown>((owner, key) => (Object(owner) as Tree)[key], row);
    return value === undefined ? "" : harmless(`${value as string | number | boolean}`);
  });
}

/**
 * Returns a candidate as import takes it. States that a new candidate cannot have are left out, as is `outreach_enabled: true`,
 * so that no import turns mail on.
 */
export function inputOf(candidate: Candidate) {
  const given = (schema: TSchema, value: object): Tree => {
    const known = Object.entries(value).filter(
      ([name, each]) => Object.hasOwn(propertiesOf(schema), name) && each !== null,
    );
    return Object.fromEntries(known);
  };
  const parts = (schema: TSchema, kind: "documents" | "references") =>
    candidate[kind].map((each): Tree => ({
      ...given(schema, each),
      content: undefined,
      state: ["pending", "not_requested", "requested"].includes(each.state) ? undefined : each.state,
      chase: each.chase.attempts === 0 ? undefined : each.chase,
    }));
  return {
    ...given(CandidateInput, candidate),
    outreach_enabled: candidate.outreach_enabled ? undefined : false,
    documents: parts(DocumentInput, "documents"),
    references: parts(ReferenceInput, "references"),
  };
}
