import type { Target } from "./alternate.ts";
import type { Bench } from "./bench.ts";
import { commandsSent } from "./redis-commands.ts";
import type { Row } from "./report.ts";

/** Requests to each target whose commands are counted. */
const COUNTED = 2000;
/** What the service sends on its own now and then is less than this for each request. */
const OWN = 0.005;

/**
 * Counts what a request sends to Redis, over all targets. Counting takes time of Redis, so nothing may be measured meanwhile.
 * @param exactly how many commands meet the bound.
 */
export async function commandsRow(
  { redis, generator }: Pick<Bench, "redis" | "generator">,
  what: string,
  targets: readonly Pick<Target, "port" | "requests">[],
  { connections, exactly }: { connections: number; exactly: number },
): Promise<Row> {
  const sent = await commandsSent(redis, async () => {
    for (const { port, requests } of targets)
      await generator.connected(port, connections, (load) => load({ requests, seconds: 60, count: COUNTED }));
  });
  return rowOfCommands(what, sent, { requests: COUNTED * targets.length, exactly });
}

/** @param sent how often each command was sent, by its name, for all `requests` together. */
export function rowOfCommands(
  what: string,
  sent: ReadonlyMap<string, number>,
  { requests, exactly }: { requests: number; exactly: number },
): Row {
  const perRequest = [...sent.values()].reduce((sum, calls) => sum + calls, 0) / requests;
  const names = [...sent].map(([name, calls]) => `${calls} ${name}`).join(", ");
  return {
    what,
    bound: `exactly ${exactly}`,
    measured: `${perRequest.toFixed(3)}${names === "" ? "" : ` (${names})`}`,
    verdict: Math.abs(perRequest - exactly) < OWN ? "met" : "not met",
  };
}
