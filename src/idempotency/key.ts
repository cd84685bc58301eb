import { problem } from "../problems.ts";

/** A string of RFC 8941 (3.3.3), the form the draft gives the field: `"8e03978e-40d5"`, with `\"` and `\\` for what they escape. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
/** The form most clients send: the key as it is. */
const BARE = /^[\x21\x23-\x7e][\x20-\x7e]*$/;

const MAX_LENGTH = 255;

/**
 * Parses the key from an Idempotency-Key header: 1 to 255 printable ASCII characters. `"abc"` and `abc` are the same key, so
 * a client may switch between the two forms from one attempt to the next.
 * @throws problem malformed_request
 */
export function parseIdempotencyKey(field: string): string {
  const quoted = QUOTED.exec(field)?.[1];
  const key = quoted === undefined ? BARE.exec(field)?.[0] : quoted.replaceAll(/\\(.)/g, "$1");
  if (key === undefined || key.length === 0 || key.length > MAX_LENGTH) {
    throw problem(
      "malformed_request",
      `The Idempotency-Key header must be 1 to ${MAX_LENGTH} printable ASCII characters, bare or as a quoted string.`,
    );
  }
  return key;
}
