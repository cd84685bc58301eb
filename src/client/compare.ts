import type { Candidate, CandidateInput, Reference } from "./types.gen.ts";

/** As src/schema/visible-text.ts of the service. */
const INVISIBLE = /(?!\u200C|\u200D|\u202D|\u202E)[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]/gu;
const MIDNIGHT = /^(\d{4}-\d{2}-\d{2})[Tt ]00:00(?::00(?:\.0+)?)?(?:[Zz]|[+-]00:00)?$/;
/** A zero in brackets after a country code with which the service always leaves it out: +44 (0)20 … is +4420…. */
const TRUNK_ZERO = /^\+(27|3[123]|4[013469]|6[0146]|8[46]|9[1-58]|353|358|380|385|386|421|971|972)[\s([]+0[)\]]?/;
const PHONE_SIGNS = /[\s().[\]\u2010-\u2015\u2212-]/g;

type Tidy = (given: unknown) => unknown;
const text: Tidy = (given) => (typeof given === "string" ? given.trim() || null : (given ?? null));
const identifier: Tidy = (given) => text(typeof given === "string" ? given.replaceAll(INVISIBLE, "") : given);
const attempts: Tidy = (given) => text(given) ?? 3;
const date: Tidy = (given) => text(typeof given === "string" ? given.trim().replace(MIDNIGHT, "$1") : given);
const stringOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const label: Tidy = (given) => (typeof given === "string" ? given.trim() : String(given));

/** The fields that a merge patch changes, and what the service makes of a value. */
const FIELDS = {
  name: text,
  first_name: text,
  last_name: text,
  job_title: text,
  email: identifier,
  phone: text,
  start_date: date,
  references_required: text,
  docs_chase_attempts: attempts,
  reference_chase_attempts: attempts,
  outreach_enabled: text,
  withdrawn: text,
  withdrawal_reason: text,
} as const satisfies Partial<Record<keyof CandidateInput, Tidy>>;

const PERSONAL: readonly string[] = ["email", "phone", "start_date"];

/** Returns the external_id as the service keeps it; undefined if there is none. */
export function keyOf({ external_id }: { readonly external_id?: unknown }): string | undefined {
  const key = Number.isSafeInteger(external_id) ? String(external_id) : identifier(external_id);
  return typeof key === "string" ? key : undefined;
}

/**
 * Compares a row with the candidate, as the service would keep it. Undefined if to send the row would change nothing.
 * @param keepsUnreadable whether unreadable values are kept in metadata. Such a value is unchanged if it is there.
 * @returns `patch`: what changes, as a merge patch; `whole`: true if a patch cannot make the change, because documents or
 * references are new, or a value may be unreadable.
 */
export function differenceOf(row: CandidateInput, known: Candidate, keepsUnreadable: boolean) {
  const patch: Record<string, unknown> = {};
  const fields: string[] = [];
  let whole = false;
  const kept = (name: string, value: unknown) =>
    keepsUnreadable && value !== null && known.metadata[`unreadable.${name}`] === cut(value);
  for (const [name, tidy] of Object.entries(FIELDS) as [keyof typeof FIELDS, Tidy][]) {
    const value = tidy(row[name]);
    if (row[name] === undefined || (name === "withdrawn" && value === null)) continue;
    const isPersonal = PERSONAL.includes(name);
    const isSame = name === "phone" ? isSamePhone(value, known.phone) : value === known[name];
    if (isSame || (isPersonal && known[name] === null && kept(name, value))) continue;
    fields.push(name);
    patch[name] = row[name];
    whole ||= isPersonal && (keepsUnreadable || Object.hasOwn(known.metadata, `unreadable.${name}`));
  }
  const labels = changedLabels(row.metadata, known.metadata);
  if (labels !== undefined) {
    fields.push("metadata");
    patch["metadata"] = labels;
  }
  const names = new Set(known.documents.map((document) => document.name));
  const isNewDocument = (given: unknown) => !names.has(stringOf(text(Object(given).name ?? given)) ?? "");
  if (listOf(row.documents).some(isNewDocument)) fields.push("documents");
  const isNewReference = (given: unknown, n: number): boolean => {
    const email = stringOf(identifier(Object(given).email));
    const name = stringOf(text(Object(given).name));
    const referee = { name, email: kept(`references.${n}.email`, email) ? null : email };
    return !known.references.some((reference) => isSameReferee(reference, referee));
  };
  if (listOf(row.references).some(isNewReference)) fields.push("references");
  whole ||= fields.includes("documents") || fields.includes("references");
  return fields.length === 0 ? undefined : { fields, patch, whole };
}

type Referee = Pick<Reference, "email" | "name">;

/** As src/candidates/merges.ts of the service. */
function isSameReferee(known: Referee, { email, name }: Referee): boolean {
  if (email) return known.email?.toLowerCase() === email.toLowerCase();
  return name ? known.name === name : !known.name && !known.email;
}

/** Returns the labels that change; null if all are to go; undefined if none changes. */
function changedLabels(given: unknown, known: Readonly<Record<string, string>>): unknown {
  const labels = given === undefined ? {} : (text(given) ?? null);
  if (typeof labels !== "object" || Array.isArray(labels)) return labels; // the service refuses it
  if (labels === null) return Object.keys(known).every((name) => name.startsWith("unreadable.")) ? undefined : null;
  const changed = Object.entries(labels).filter(([name, value]) =>
    value === null ? Object.hasOwn(known, name) : value !== undefined && label(value) !== known[name],
  );
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Compares digits. In any other form than + and digits with signs between them, a phone counts as another one. */
function isSamePhone(given: unknown, known: string | null): boolean {
  if (typeof given !== "string") return given === known;
  const plain = given
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .trim()
    .replace(/^tel:/i, "");
  return [plain, plain.replace(TRUNK_ZERO, "+$1")].some((phone) => phone.replaceAll(PHONE_SIGNS, "") === known);
}

/** Returns what the service keeps of an unreadable value: its text, up to 500 characters. */
function cut(value: unknown): string {
  const whole = typeof value === "string" ? value : JSON.stringify(value);
  return Array.from(whole).slice(0, 500).join("").toWellFormed();
}
