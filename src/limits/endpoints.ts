import { endpoint } from "../api/endpoint.ts";
import { Limits } from "./schema.ts";
import type { LimitsService } from "./service.ts";

/** The endpoint for the caller's own limits. It is charged to no surface. */
export function limitsEndpoints(limits: LimitsService) {
  return {
    read: endpoint({
      name: "readLimits",
      summary: "Read every limit of the caller's account and key, and the key's live grants",
      status: 200,
      answer: Limits,
      problems: [],
      handle: ({ caller }) => limits.read(caller),
    }),
  };
}
