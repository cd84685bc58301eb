import type { Surface } from "../../../src/limiter/surfaces.ts";
import { REQUESTS } from "../../support/requests.ts";
import { UsageError } from "./host.ts";
import type { Ask, Run } from "./run.ts";

/** The names of all surfaces. */
export const SURFACES = Object.keys(REQUESTS) as Surface[];

/** The cheapest request that charges a surface. `candidate` is the id of one of the account's candidates. */
export function askFor(surface: string, key: number, candidate: string): Ask {
  const { method, path, body } = REQUESTS[surface as Surface]("", candidate);
  return { method, path, surface, key, ...(body === undefined ? {} : { json: JSON.parse(body) as unknown }) };
}

/** What reports call the keys of a run. */
export function namesOf({ settings }: Run): string[] {
  return settings.keys.map((_, key) => `key ${key + 1}`);
}

/** Takes one of each list in turn. */
export function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}

/** Finds one of the account's candidates, or creates one. Charges a list, and a create if the account has none. */
export async function findCandidate(run: Run): Promise<string> {
  for (let key = 0; key < run.settings.keys.length; key++) {
    const listed = await run.send({ method: "GET", path: "/candidates?limit=1", surface: "list", key });
    const page =
      listed.verdict === "admitted" ? (JSON.parse(listed.answer.body) as { data: { id: string }[] }) : undefined;
    if (page?.data[0] !== undefined) return page.data[0].id;
    const created = await run.send(askFor("create", key, ""));
    if (created.verdict === "admitted") return (JSON.parse(created.answer.body) as { id: string }).id;
  }
  throw new UsageError(
    "Neither a list nor a create was admitted, so there is no candidate to work with. Use new keys or a new window.",
  );
}
