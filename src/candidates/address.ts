import { createHash } from "node:crypto";

/** Returns an address in lower case, for comparison. */
export function comparable(email: string): string {
  return email.toLowerCase();
}

/** Prefix of a keyed hash (AddressHash). No other form of an address begins with it. */
export const KEYED = "~";

export function isKeyed(kept: string): boolean {
  return kept.startsWith(KEYED);
}

/** Returns the SHA-256 of an address in base64url, as versions before 2026-11-27 stored it. Anybody can guess the address from it. */
export function guessableHash(email: string): string {
  return createHash("sha256").update(comparable(email)).digest("base64url");
}
