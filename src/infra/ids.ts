import { createHash, randomFillSync } from "node:crypto";

export type IdPrefix =
  "cand" | "doc" | "ref" | "acct" | "key" | "grant" | "req" | "audit" | "inst" | "wh" | "msg" | "note";

/** Makes a new identifier: `newId("cand")` returns `cand_01j…`. */
export type NewId = (prefix: IdPrefix) => string;

/** Random bytes for the next 256 ids: fetching few at a time costs more than all the rest. */
const UUID_BYTES = 16;
const random = Buffer.alloc(256 * UUID_BYTES);
let taken = random.length;

let latestMs = 0;
let counter = 0;

/**
 * Makes a TypeID. Those of one process sort in the order in which they were made: within a millisecond, the first 26
 * random bits count on (RFC 9562, 6.2, method 1). So the ids of a candidate and its parts have a long prefix in common,
 * which makes a compressed page a tenth smaller.
 */
export const newTypeId: NewId = (prefix) => {
  if (taken === random.length) {
    randomFillSync(random);
    taken = 0;
  }
  const bytes = random.subarray(taken, (taken += UUID_BYTES));
  const now = Date.now();
  counter = now === latestMs ? counter + 1 : bytes.readUInt32BE(6) >>> 7; // 25 bits, so that it cannot run over
  latestMs = now;
  bytes.writeUInt16BE(counter >>> 14, 6);
  bytes.writeUInt16BE(counter & 0x3fff, 8);
  return typeId(prefix, now, bytes);
};

/**
 * Returns a TypeID (specification 0.3.0): the prefix, and a UUIDv7 (RFC 9562, 5.7) in base32. Our own code, because every
 * request has an id, and typeid-js takes 4% of a request's time.
 * @param bytes 16 bytes, of which the id takes 74 bits. They are changed.
 */
export function typeId(prefix: IdPrefix, epochMs: number, bytes: Buffer): string {
  bytes.writeUIntBE(epochMs, 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6); // version 7
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8); // variant of RFC 9562
  return `${prefix}_${base32(bytes)}`;
}

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const PAIRS = Array.from({ length: 1024 }, (_, bits) => DIGITS.charAt(bits >> 5) + DIGITS.charAt(bits & 31));

/** Crockford's base32 in lower case: 13 pairs of digits, which are two zero bits and the 128 of the UUID. */
function base32(bytes: Buffer): string {
  let text = "";
  let value = 0;
  let bits = 2;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0x3ffff;
    for (bits += 8; bits >= 10; bits -= 10) text += PAIRS[(value >> (bits - 10)) & 1023];
  }
  return text;
}

/**
 * Returns a generator of TypeIDs that are derived from a seed: `epochMs`, then 74 bits of SHA-256. The nth one with a prefix
 * is the same on every attempt and replica, also if a new release creates one more of another kind.
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

/** Returns the ids of one of several candidates, and of its parts: the same on every attempt, whatever becomes of the others. */
export function idsOf(candidateId: string): NewId {
  const time = candidateId.slice("cand_".length, "cand_".length + 10); // 48 bits of the UUID, after two zero bits
  const epochMs = Array.from(time).reduce((sum, digit) => sum * 32 + DIGITS.indexOf(digit), 0);
  const idOfPart = idsFrom(candidateId, epochMs);
  return (prefix) => (prefix === "cand" ? candidateId : idOfPart(prefix));
}

/** Returns whether `text` has the form of an identifier with that prefix. Saves the lookup of one that cannot exist. */
export function looksLikeId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(prefix.length + 1));
}
