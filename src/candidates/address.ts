import { createHash } from "node:crypto";

/** Returns an address in the form in which two are compared: letter case makes no difference. */
export function comparable(email: string): string {
  return email.toLowerCase();
}

/** Stands before a keyed hash (AddressHash), and in no other form of an address. */
export const KEYED = "~";

export function isKeyed(kept: string): boolean {
  return kept.startsWith(KEYED);
}

/** Returns what versions before 2026-11-27 kept of an address: its SHA-256 in base64url. Anybody can guess an address by it. */
export function guessableHash(email: string): string {
  return createHash("sha256").update(comparable(email)).digest("base64url");
}
