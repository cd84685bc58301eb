import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

/** Returns that many random bytes: `randomBytes` of node:crypto, or a test's replacement. */
export type RandomBytes = (length: number) => Uint8Array;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "cos_live_";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORMAT = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
const LENGTH = PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH;
/** Bytes from here on are discarded: 256 is no multiple of 62, so they would make some characters more likely. */
const UNBIASED_BELOW = 248;

/** Makes an API key: `cos_live_`, 30 random base62 characters (178 bits) and 6 characters of checksum. */
export function makeKey(random: RandomBytes): string {
  let key = PREFIX;
  while (key.length < PREFIX.length + RANDOM_LENGTH) {
    const byte = random(1)[0] ?? UNBIASED_BELOW;
    if (byte < UNBIASED_BELOW) key += BASE62.charAt(byte % 62);
  }
  return key + checksum(key);
}

/**
 * Returns true if `text` has the format of a key and a matching checksum, so that a mistyped character is found without a
 * look-up. Anyone can compute the checksum: it does not prove that the key exists.
 */
export function wellFormed(text: string): boolean {
  return text.length === LENGTH && FORMAT.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/**
 * Returns the hash by which a key is stored and looked up: SHA-256, in hexadecimal. A key has 178 random bits, so a
 * slow hash would not make it safer.
 */
export function hashKey(text: string): string {
  return hash("sha256", text, "hex");
}

/**
 * Returns the CRC-32 as six base62 digits; 62^6 is more than 2^32. CRC-32 detects every error burst of up to 32 bits,
 * and so any single wrong character.
 */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
