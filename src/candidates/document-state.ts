import type { DocumentState } from "./document-schema.ts";

/**
 * The moves a client may make of a document by PATCH (interface.md, States). Starting the candidate makes the one from
 * pending to requested, content those to received, the clock the one from accepted to expired. Accepted, waived and
 * cancelled are settled.
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

/** Where content makes a document received; in received it replaces what is there. */
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

/** Whether the day `expires_on` (`YYYY-MM-DD`) is over in UTC at `now` (RFC 3339); without such a day, never. */
export function isPast(expires_on: string | null, now: string): boolean {
  return expires_on !== null && expires_on < now.slice(0, "YYYY-MM-DD".length);
}
