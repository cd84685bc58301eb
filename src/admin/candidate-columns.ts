import type { TSchema } from "typebox";
import { nearest } from "../api/validate.ts";
import { DocumentInput } from "../candidates/document-schema.ts";
import { CandidateInput } from "../candidates/input-schema.ts";
import { ReferenceInput } from "../candidates/reference-schema.ts";
import { type Candidate, MAX_REFERENCES } from "../candidates/schema.ts";
import { propertiesOf } from "../schema/fields.ts";

const FIELDS = scalarsOf(CandidateInput);
const REFERENCE_FIELDS = scalarsOf(ReferenceInput);

/** Returns the type of each field that fits into one cell. */
function scalarsOf(schema: TSchema): ReadonlyMap<string, string> {
  const fields = Object.entries(propertiesOf(schema)).map(([name, { type }]) => {
    return [name, ["boolean", "integer", "string"].find((kind) => [type].flat().includes(kind))] as const;
  });
  return new Map(fields.flatMap(([name, kind]) => (kind === undefined ? [] : [[name, kind]])));
}

/** First characters with which a spreadsheet runs a cell as a formula, and the apostrophe that `harmless` puts before them. */
const RISKY = /^[=+\-@\t\r\n＝＋－＠']/;

/** Returns the cell of a value. It begins with an apostrophe if a spreadsheet would run it, or if the value is an empty text. */
export function harmless(value: string | null): string {
  if (value === null) return "";
  return value === "" || RISKY.test(value) ? `'${value}` : value;
}

/** Returns the value of a cell that `harmless` or a person wrote. Null for an empty cell: no value. */
export function valueIn(cell: string): string | null {
  if (cell === "'" || (cell.startsWith("'") && RISKY.test(cell.slice(1)))) return cell.slice(1);
  return cell === "" ? null : cell;
}

/** A column: where its value is in a candidate (CandidateInput), and its type. */
type Column = ReturnType<typeof columnOf>;

/** Returns a column by its name: a field, `documents`, `metadata.NAME`, or `reference1.email` and so on. @throws {Error} */
export function columnOf(name: string) {
  const [, label] = /^metadata\.(.+)$/s.exec(name) ?? [];
  if (label !== undefined) return { name, path: ["metadata", label], kind: "string" };
  if (name === "documents") return { name, path: [name], kind: "names" };
  const [, number = "1", member] = /^reference([1-9]\d?)\.(.*)$/s.exec(name) ?? [];
  const kind = member === undefined ? FIELDS.get(name) : REFERENCE_FIELDS.get(member);
  const path = member === undefined ? [name] : ["references", Number(number) - 1, member];
  if (kind !== undefined && Number(number) <= MAX_REFERENCES) return { name, path, kind };
  const near = nearest(name, ["documents", ...FIELDS.keys(), ...referenceColumns(number)]);
  const other = /[;\t]/.test(name) ? "Separate the columns by commas" : `Leave it out, or call it metadata.${name}`;
  const advice = near === undefined ? other : `Did you mean ${near}?`;
  throw new Error(`The file has an unknown column '${name}'. Nothing was changed. ${advice}`);
}

function referenceColumns(number: number | string): string[] {
  return [...REFERENCE_FIELDS.keys()].map((name) => `reference${number}.${name}`);
}

/** Returns all columns of candidates with these labels and this number of references. */
export function columnsFor(labels: Iterable<string>, references: number): Column[] {
  const ofReferences = Array.from({ length: references }, (_, n) => referenceColumns(n + 1)).flat();
  const ofLabels = [...labels].toSorted().map((label) => `metadata.${label}`);
  return [...FIELDS.keys(), "documents", ...ofLabels, ...ofReferences].map(columnOf);
}

type Tree = Record<string | number, unknown>;

/** Makes a candidate of a row's values. `at`: the column's place. Equal rows make equal JSON if the columns are sorted. */
export function candidateOf(columns: readonly (Column & { at: number })[], values: readonly (string | null)[]): Tree {
  const candidate: Tree = {};
  for (const { path, kind, at } of columns) {
    const value = values[at] ?? null;
    if (value === null) continue;
    let owner = candidate;
    for (const [n, key] of path.slice(0, -1).entries())
      owner = (owner[key] ??= typeof path[n + 1] === "number" ? [] : Object.create(null)) as Tree;
    owner[path.at(-1)!] = converted(value, kind);
  }
  const { references } = candidate;
  return Array.isArray(references) ? { ...candidate, references: references.filter(() => true) } : candidate; // no holes
}

/** Converts a cell's text. Returns it unchanged if it has another form; validation then says what is wrong. */
function converted(text: string, kind: string): unknown {
  if (kind === "boolean" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (kind === "integer" && /^\d{1,9}$/.test(text)) return Number(text);
  if (kind !== "names") return text;
  const names = text.match(/(?:\\[\\;]|[^;])+/g) ?? []; // a backslash stands before ; and \ that belong to a name
  return names.filter((name) => name.trim() !== "").map((name) => name.replaceAll(/\\([\\;])/g, "$1"));
}

export function cellsOf(columns: readonly Column[], candidate: Candidate): string[] {
  const names = candidate.documents.map(({ name }) => name.replaceAll(/[\\;]/g, "\\$&")).join(";");
  const row = { ...inputOf(candidate), documents: names || undefined };
  return columns.map(({ path }) => {
    const value = path.reduce<unknown>(
      (owner, key) => (Object.hasOwn(Object(owner), key) ? (owner as Tree)[key] : null),
      row,
    );
    return harmless(value == null ? null : `${value as string | number | boolean}`);
  });
}

/** Returns a candidate as import takes it: without states that a new one cannot have, and never with mail turned on. */
export function inputOf(candidate: Candidate) {
  const { documents, references, outreach_enabled } = candidate;
  return {
    ...given(CandidateInput, candidate),
    outreach_enabled: outreach_enabled ? undefined : false,
    documents: documents.map((each) => ({ ...given(DocumentInput, each), ...anew(each), content: undefined })),
    references: references.map((each) => ({ ...given(ReferenceInput, each), ...anew(each) })),
  };
}

function given(schema: TSchema, value: object): Tree {
  const known = propertiesOf(schema);
  const members = Object.entries(value).filter(([name, each]) => Object.hasOwn(known, name) && each !== null);
  return Object.fromEntries(members);
}

type Part = Candidate["documents" | "references"][number];

function anew({ state, chase: { attempts, last_at } }: Pick<Part, "state" | "chase">) {
  const isFirst = state === "pending" || state === "not_requested" || state === "requested";
  return { state: isFirst ? undefined : state, chase: attempts === 0 ? undefined : { attempts, last_at } };
}
