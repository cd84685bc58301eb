/** A JSON object as it comes and goes. */
export type JsonObject = Record<string, unknown>;

/**
 * JSON Merge Patch (RFC 7396, 2): members of the patch replace those of the target, null takes one away, objects merge.
 * Neither is changed. `Object.fromEntries` keeps a member named `__proto__` a member.
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

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
