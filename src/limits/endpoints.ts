import { endpoint } from "../api/endpoint.ts";
import { Limits } from "./schema.ts";
import { viewLimits } from "./view.ts";

/** The endpoint for the caller's own limits. It is charged to no surface. */
export const readLimits = endpoint({
  name: "readLimits",
  tag: "Limits",
  summary: "Read every limit of the caller's account and key, and the key's live grants",
  description: "Reads all seven surfaces, each with the limit of the account and that of the key.",
  response: Limits,
  handle: ({ caller, usage }) => Promise.resolve(viewLimits(caller, usage!)), // its route is free
});
