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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
