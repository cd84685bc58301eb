import { createHash } from "node:crypto";
import { type IdPrefix, type NewId, typeId } from "../infra/ids.ts";

/**
 * Returns a generator of identifiers that are derived from a seed. The nth identifier with a prefix is always the same,
 * on every attempt and every replica. They are TypeIDs: `epochMs`, then 74 bits of SHA-256.
 * Each prefix is counted separately: if a new release creates one more of one kind, the identifiers of the others stay
 * the same.
 */
export function idsFrom(seed: string, epochMs: number): NewId {
  const counts = new Map<IdPrefix, number>();
  return (prefix) => {
    const count = counts.get(prefix) ?? 0;
    counts.set(prefix, count + 1);
    const bytes = createHash("sha256").update(`${seed}.${prefix}.${count}`).digest().subarray(0, 16);
    return typeId(prefix, epochMs, bytes);
  };
}
