import { createHash } from "node:crypto";
import { fromUUIDBytes } from "typeid-js";
import type { IdPrefix, NewId } from "../infra/ids.ts";

/**
 * Returns a generator of identifiers that are derived from a seed. The nth identifier with a prefix is always the same,
 * on every attempt and every replica. They have the form of UUIDv7 (RFC 9562, 5.7): `epochMs`, then 74 bits of SHA-256.
 * Each prefix is counted separately: if a new release creates one more of one kind, the identifiers of the others stay
 * the same.
 */
export function idsFrom(seed: string, epochMs: number): NewId {
  const counts = new Map<IdPrefix, number>();
  return (prefix) => {
    const count = counts.get(prefix) ?? 0;
    counts.set(prefix, count + 1);
    const bytes = createHash("sha256").update(`${seed}.${prefix}.${count}`).digest().subarray(0, 16);
    bytes.writeUIntBE(epochMs, 0, 6);
    bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6); // version 7
    bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8); // variant of RFC 9562
    return fromUUIDBytes(prefix, bytes);
  };
}
