import { problem } from "../problems.ts";

/** A string of RFC 8941 (3.3.3), the form the draft gives the field: `"8e03978e-40d5"`, with `\"` and `\\` for what they escape. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
/** The form most clients send: the key as it is. */
const BARE = /^[\x21\x23-\x7e][\x20-\x7e]*$/;

const MAX_LENGTH = 255;

/**
 * The key that an Idempotency-Key field names: printable ASCII, 1-255 characters. `"abc"` and `abc` name the same one, so
 * that a client may move from one form to the other between a try and its retry.
 * @throws problem malformed_request
 */
export function keyOf(field: string): string {
  const quoted = QUOTED.exec(field)?.[1];
  const key = quoted === undefined ? BARE.exec(field)?.[0] : quoted.replaceAll(/\\(.)/g, "$1");
  if (key === undefined || key.length === 0 || key.length > MAX_LENGTH) {
    throw problem("malformed_request", `Idempotency-Key takes 1-${MAX_LENGTH} characters of printable ASCII, as they are or as a quoted string.`);
  }
  return key;
}
