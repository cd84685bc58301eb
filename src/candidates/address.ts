import { createHash } from "node:crypto";

/**
 * Returns what is kept of an email address where only equality matters: its SHA-256 in base64url. Letter case makes no
 * difference.
 */
export function hashOfAddress(email: string): string {
  return createHash("sha256").update(email.toLowerCase()).digest("base64url");
}
