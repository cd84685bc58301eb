import type { Surface } from "../../../src/limiter/surfaces.ts";
import { REQUESTS } from "../../support/requests.ts";
import { sleep, UsageError } from "./host.ts";
import type { Ask, Run } from "./run.ts";

/** The cheapest request that charges a surface. `candidate` is the id of one of the account's candidates. */
export function askFor(surface: Surface, key: number, candidate: string): Ask {
  const { method, path, body } = REQUESTS[surface]("", candidate);
  return { method, path, surface, key, ...(body === undefined ? {} : { json: JSON.parse(body) as unknown }) };
}

/** Takes one of each list in turn. */
export function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}

/** Finds one of the account's candidates, or creates one. Charges a list, and a create if the account has none. */
export async function findCandidate(run: Run): Promise<string> {
  for (const key of run.settings.keys.keys()) {
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

/** Sends each request at its time, at most `connections` at once, in the order given. */
export async function sendAll(run: Run, asks: readonly (Ask & { due?: number })[]): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let ask = asks[next++]; ask !== undefined; ask = asks[next++]) {
      if (ask.due !== undefined) await sleep(ask.due - Date.now());
      await run.send(ask);
    }
  };
  await Promise.all(Array.from({ length: run.settings.connections }, lane));
}
