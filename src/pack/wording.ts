import type { DocumentState } from "../candidates/document-schema.ts";
import type { ReferenceState } from "../candidates/reference-schema.ts";

export const NONE = "—";

/** The colour of a state's badge, by its meaning. */
export type Tone = "settled" | "open" | "trouble" | "aside";

const SHARED = { requested: "open", waived: "aside", cancelled: "aside" } as const;

export const DOCUMENT_TONES: Record<DocumentState, Tone> = {
  ...SHARED,
  pending: "open",
  received: "open",
  accepted: "settled",
  rejected: "trouble",
  expired: "trouble",
};

export const REFERENCE_TONES: Record<ReferenceState, Tone> = {
  ...SHARED,
  not_requested: "open",
  received: "settled",
  declined: "trouble",
  bounced: "trouble",
  unresponsive: "trouble",
};

/** Turns a state into words: `action_required` gives `Action required`. */
export function words(state: string): string {
  return state.charAt(0).toUpperCase() + state.slice(1).replaceAll("_", " ");
}

/** Formats a timestamp for people, to the second, in UTC. */
export function moment(timestamp: string | null): string {
  return timestamp === null ? NONE : `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;
}

/** Formats a size for people, and exactly: `1.2 MB (1,234,567 bytes)`. */
export function bytes(size: number): string {
  const exact = `${size.toLocaleString("en")} ${size === 1 ? "byte" : "bytes"}`;
  if (size < 1000) return exact;
  const units = ["kB", "MB", "GB"] as const;
  const power = Math.min(Math.floor(Math.log10(size) / 3), units.length);
  return `${(size / 1000 ** power).toFixed(1)} ${units[power - 1]} (${exact})`;
}
