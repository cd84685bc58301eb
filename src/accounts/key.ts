import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/** A source of random bytes, of the given length: node:crypto's `randomBytes`, or a test's own. */
export type RandomBytes = (length: number) => Uint8Array;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "cos_live_";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
const LENGTH = PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH;
/** The largest multiple of 62 in a byte: bytes from here on are thrown away, or the first characters would come more often. */
const UNBIASED = 248;

/** A new API key: `cos_live_`, 30 random base62 characters (178 bits) and 6 of checksum. */
export function makeKey(random: RandomBytes): string {
  let key = PREFIX;
  while (key.length < PREFIX.length + RANDOM_LENGTH) {
    const byte = random(1)[0] ?? UNBIASED;
    if (byte < UNBIASED) key += BASE62.charAt(byte % 62);
  }
  return key + checksum(key);
}

/**
 * Whether `text` can be a key at all; finds every mistyped character without a look-up. Any length is safe to ask about.
 * The checksum is no secret and proves nothing: it only tells a slip from a guess.
 */
export function wellFormed(text: string): boolean {
  return text.length === LENGTH && FORM.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** The form in which a key is stored and looked up: SHA-256 in hex. A key has 178 random bits, so a slow hash would add nothing. */
export function hashKey(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** CRC-32, as six base62 digits: 62^6 is more than 2^32. A CRC finds every error of up to 32 bits in a row, so any one character. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
