import { problem } from "../problems.ts";

/** The header as its draft defines it: a quoted string (RFC 8941, 3.3.3), for example `"8e03978e-40d5"`. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
/** The key without quotes, as most clients send it. */
const BARE = /^[\x21\x23-\x7e][\x20-\x7e]*$/;

const MAX_LENGTH = 255;

/**
 * Parses an Idempotency-Key header: 1 to 255 printable ASCII characters. `"abc"` and `abc` are the same key, so a
 * client may use either form on each attempt.
 * @throws problem malformed_request
 */
export function parseIdempotencyKey(field: string): string {
  const quoted = QUOTED.exec(field)?.[1];
  const key = quoted === undefined ? BARE.exec(field)?.[0] : quoted.replaceAll(/\\(.)/g, "$1");
  if (key === undefined || key.length === 0 || key.length > MAX_LENGTH) {
    throw problem(
      "malformed_request",
      `The Idempotency-Key is not valid. Send 1 to ${MAX_LENGTH} printable ASCII characters, bare or quoted.`,
    );
  }
  return key;
}
