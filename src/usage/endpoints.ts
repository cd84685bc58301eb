import { endpoint } from "../api/endpoint.ts";
import { UsageReport } from "./schema.ts";
import type { UsageService } from "./service.ts";

/** The endpoint for the caller's own usage. It is charged to no surface. */
export function usageEndpoint(usage: UsageService) {
  return endpoint({
    name: "readUsage",
    tag: "Limits",
    summary: "Read what the caller's account used and was refused in the last 24 hours",
    description:
      "Reads, for the current hour and the 24 before it, how many requests of each surface each key of the account made, and how many of them got 429. It is up to a minute old.",
    response: UsageReport,
    handle: ({ caller }) => usage.lastDay(caller.accountId),
  });
}
