import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Refusal } from "../problems.ts";
import { keyInvalid, keyMissing } from "./refusals.ts";

/** Returns that many random bytes: `randomBytes` of node:crypto, or a test's replacement. */
export type RandomBytes = (length: number) => Uint8Array;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "cos_live_";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORMAT = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
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

/** Returns what is stored of a key beside its hash. 27 random characters of it (160 bits) stay unknown. */
export function prefixOf(key: string): string {
  return key.slice(0, PREFIX.length + 3);
}

/** Returns true if `text` has the format of a key and a matching checksum. A mistyped key is thus found without a lookup. */
export function wellFormed(text: string): boolean {
  return FORMAT.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** Returns SHA-256 in hexadecimal. A key has 178 random bits, so a slow hash would not make it safer. */
export function hashKey(text: string): string {
  return hash("sha256", text, "hex");
}

/** Returns the CRC-32 as six base62 digits; 62^6 is more than 2^32. CRC-32 detects any single wrong character. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** The two headers that may have the key, unchanged, and the address of the client. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
  /** Returns the client's IP address. X-Forwarded-For is believed for TRUSTED_PROXIES hops. */
  readonly address: () => string;
}

const HOW_TO_SEND = "Send it as `Authorization: Bearer <API_KEY>` or as `X-API-Key: <API_KEY>`";

/**
 * Returns the key of a request. If X-API-Key is present, an Authorization header of another scheme is ignored: it may be
 * meant for a gateway.
 * @returns the key, in any format; or a refusal: `api_key_missing`, or `api_key_invalid` for two different keys. A refusal
 * never repeats what the client sent.
 */
export function presentedKey({ authorization = "", apiKey = "" }: Omit<Credentials, "address">): string | Refusal {
  const bearer = /^bearer(?: +(.*))?$/i.exec(authorization);
  const token = bearer?.[1] ?? "";
  if (token !== "" && apiKey !== "" && token !== apiKey)
    return keyInvalid("two_keys", "Authorization and X-API-Key contain different keys. Send only one of them.");
  const key = token === "" ? apiKey : token;
  return key === "" ? keyMissing(whyMissing(authorization, bearer !== null)) : key;
}

function whyMissing(authorization: string, isBearer: boolean): string {
  if (isBearer) return `The Authorization header has no API key after Bearer. ${HOW_TO_SEND}.`;
  if (authorization !== "") return `The Authorization header must begin with Bearer and a space. ${HOW_TO_SEND}.`;
  return `The request has no API key. ${HOW_TO_SEND}.`;
}
