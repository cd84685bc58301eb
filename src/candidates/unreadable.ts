import type { Fault } from "../problems.ts";
import { isObject } from "../schema/merge-patch.ts";
import type { CandidateInput } from "./input-schema.ts";

/** The fields of a person. No field that decides anything is among them. */
const FIELDS = ["email", "phone", "start_date"] as const;
const POINTER = /^\/(?:email|phone|start_date|references\/\d+\/(?:email|phone))$/;

/**
 * For `?unreadable=metadata`: sets refused fields of a person and of the references to null in the body, and keeps their text in
 * metadata, as `unreadable.email` or `unreadable.references.0.email`. Returns a warning for each.
 */
export function keepUnreadable(body: unknown, faults: readonly Fault[]): Fault[] {
  if (!isObject(body) || !(isObject(body["metadata"]) || (body["metadata"] ?? null) === null)) return [];
  const labels = new Map(Object.entries(body["metadata"] ?? {}));
  const warnings = faults.flatMap(({ pointer, detail }) => {
    if (!POINTER.test(pointer)) return [];
    const path = pointer.slice(1).split("/");
    const field = path.pop()!;
    const owner = path.reduce<unknown>((value, name) => Object(value)[name], body);
    if (!isObject(owner) || owner[field] === null) return []; // two faults of one value
    const value = owner[field];
    const name = [`unreadable`, ...path, field].join(".");
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const start = text.slice(0, 1_000); // a character has one or two units of a string, and a label 500 characters
    labels.set(name, Array.from(start).slice(0, 500).join("").toWellFormed());
    owner[field] = null;
    return [{ pointer, detail: `${detail}. Its text is kept in metadata as ${name}` }];
  });
  if (warnings.length > 0) body["metadata"] = Object.fromEntries(labels);
  return warnings;
}

/** Leaves out what was not readable of all referees: which label is whose is not known, and one of them is erased. */
export function withoutRefereesLabels(metadata: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !name.startsWith("unreadable.references.")));
}

/** Returns a patch of metadata that removes the labels of fields that are readable now. */
export function resolvedLabels(given: CandidateInput): Record<string, null> {
  return Object.fromEntries(FIELDS.flatMap((field) => (given[field] ? [[`unreadable.${field}`, null]] : [])));
}
