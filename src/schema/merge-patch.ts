import { invalid } from "../problems.ts";

/**
 * JSON Merge Patch (RFC 7396, 2): a member of the patch replaces that of the target, null removes it, and objects are
 * merged. Does not modify its arguments. `Object.fromEntries` keeps a member named `__proto__` an ordinary member.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Merges a patch into metadata. A null patch removes all members. @throws problem validation_failed */
export function mergedMetadata(
  before: Record<string, string>,
  patch: Record<string, string | null> | null | undefined,
): Record<string, string> {
  if (patch === undefined) return before;
  const merged = (patch === null ? {} : mergePatch(before, patch)) as Record<string, string>;
  const count = Object.keys(merged).length;
  if (count <= 50) return merged;
  const must = `must have at most 50 members, including the existing ones; it would have ${count}`;
  const detail = "The metadata would have too many members. Send null for members that you no longer need.";
  throw invalid("/metadata", must, detail);
}
