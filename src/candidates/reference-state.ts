import type { ReferenceState } from "./reference-schema.ts";

/**
 * The moves that a client may make with PATCH, by the reference's present state (interface.md, States). Starting the
 * candidate moves not_requested to requested. No move leads out of received, waived or cancelled.
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
