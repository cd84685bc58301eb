import type { ReferenceState } from "./reference-schema.ts";

/**
 * The moves a client may make of a reference (interface.md, States). Starting the candidate makes the first one, from
 * not_requested to requested; received, waived and cancelled are settled.
 */
export const REFERENCE_MOVES: Record<ReferenceState, readonly ReferenceState[]> = {
  not_requested: ["waived", "cancelled"],
  requested: ["received", "declined", "bounced", "unresponsive", "waived", "cancelled"],
  declined: ["requested", "waived", "cancelled"],
  bounced: ["requested", "waived", "cancelled"],
  unresponsive: ["requested", "waived", "cancelled"],
  received: [],
  waived: [],
  cancelled: [],
};
