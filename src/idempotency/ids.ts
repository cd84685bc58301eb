import { createHash } from "node:crypto";
import { fromUUIDBytes } from "typeid-js";
import type { IdPrefix, NewId } from "../infra/ids.ts";

/**
 * Identifiers that follow from a seed: the nth of a kind is the same however often, and on whichever replica, the work is
 * done. They are UUIDv7 (RFC 9562, 5.7) in form: the time, in milliseconds since the epoch, then 74 bits of SHA-256.
 * Kinds are counted apart, so that a release that makes one more of one kind still makes the same ones of the others.
 */
export function idsFrom(seed: string, epochMs: number): NewId {
  const made = new Map<IdPrefix, number>();
  return (prefix) => {
    const count = made.get(prefix) ?? 0;
    made.set(prefix, count + 1);
    const bytes = createHash("sha256").update(`${seed}.${prefix}.${count}`).digest().subarray(0, 16);
    bytes.writeUIntBE(epochMs, 0, 6);
    bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6); // version 7
    bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8); // and the variant of RFC 9562
    return fromUUIDBytes(prefix, bytes);
  };
}
