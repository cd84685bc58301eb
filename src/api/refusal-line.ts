import { loggedAddress } from "../infra/address.ts";
import type { Fault, Refusal } from "../problems.ts";
import type { Route } from "./endpoint.ts";

/** Faults whose place is logged, and the length of a place. */
const MAX_POINTERS = 5;
const MAX_POINTER = 200;

/** What the log says of refusals. */
export interface RefusalLineOptions {
  readonly routes: readonly Pick<Route, "params" | "query" | "body" | "upload">[];
  /** LOG_CLIENT_ADDRESS */
  readonly logAddress: "truncated" | "full";
}

/** Returns a function that returns the members of a refused request's line. Those without a value are undefined. */
export function refusalLine({ routes, logAddress }: RefusalLineOptions) {
  const known = new Set<string>();
  for (const { params, query, body, upload } of routes) addNames([params, query, body, upload?.form], known);
  return ({ refusal: { code, extras }, address }: { refusal: Refusal; address: string }) => ({
    code,
    reason: extras.reason,
    pointers: extras.errors?.slice(0, MAX_POINTERS).map((fault) => place(fault, known)),
    client_address: loggedAddress(address, logAddress),
  });
}

/** Adds the names of all members that a schema knows. */
function addNames(schema: unknown, names: Set<string>): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties") for (const name of Object.keys(value as object)) names.add(name);
    addNames(value, names);
  }
}

/** Returns where a fault is, without names that the client made up: they may be personal data. */
function place({ pointer }: Fault, known: ReadonlySet<string>): string {
  const isKnown = (name: string) => known.has(name) || /^\d{1,3}$/.test(name);
  return pointer.replaceAll(/(?<=\/)[^/]+/g, (name) => (isKnown(name) ? name : "…")).slice(0, MAX_POINTER);
}
