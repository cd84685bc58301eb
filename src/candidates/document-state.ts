import type { DocumentState } from "./document-schema.ts";

/**
 * The moves that a client may make with PATCH, by the document's present state (interface.md, States). Other moves have
 * other causes: starting the candidate moves pending to requested, an upload moves a document to received, and the
 * expiry sweep moves accepted to expired. A client cannot move an accepted, waived or cancelled document.
 */
export const DOCUMENT_MOVES: Record<DocumentState, readonly DocumentState[]> = {
  pending: ["waived", "cancelled"],
  requested: ["waived", "cancelled"],
  received: ["accepted", "rejected", "waived", "cancelled"],
  rejected: ["requested", "waived", "cancelled"],
  expired: ["requested", "waived", "cancelled"],
  accepted: [],
  waived: [],
  cancelled: [],
};

/** Whether content moves a document in this state to received. New content of a received document replaces the old. */
export const TAKES_CONTENT: Record<DocumentState, boolean> = {
  pending: true,
  requested: true,
  received: true,
  rejected: true,
  expired: true,
  accepted: false,
  waived: false,
  cancelled: false,
};

/** Returns true if the day `expires_on` (`YYYY-MM-DD`) is over in UTC at `now` (RFC 3339). Null is never past. */
export function isPast(expires_on: string | null, now: string): boolean {
  return expires_on !== null && expires_on < now.slice(0, "YYYY-MM-DD".length);
}
