import { invalid } from "../problems.ts";
import { mergePatch } from "../schema/merge-patch.ts";

/**
 * Merges a patch into metadata (RFC 7396). A null member removes that member; a null patch removes them all.
 * @throws problem validation_failed
 */
export function mergedMetadata(
  before: Record<string, string>,
  patch: Record<string, string | null> | null | undefined,
): Record<string, string> {
  if (patch === undefined) return before;
  const merged = (patch === null ? {} : mergePatch(before, patch)) as Record<string, string>;
  const count = Object.keys(merged).length;
  if (count > 50) {
    throw invalid(
      "/metadata",
      `must have at most 50 members, including the existing ones; it would have ${count}`,
      "The metadata would have too many members. Send null for members that you no longer need.",
    );
  }
  return merged;
}
