import { setTimeout as wait } from "node:timers/promises";
import { LoadClient, type LoadRequest } from "../../support/load.ts";
import { useStarted } from "../../support/use-started.ts";

/** One client that sends a request every so often. */
export interface Traffic {
  /** How many responses had each status so far. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Stops, and waits for the last response. */
  stop(): Promise<void>;
}

/** Sends the request every `everyMs` milliseconds, or as soon as the one before is answered if that takes longer. */
export function startTraffic(url: string, request: LoadRequest, everyMs: number): Traffic {
  const client = new LoadClient(url, 1);
  const statuses = new Map<number, number>();
  const stopped = new AbortController();
  const running = (async () => {
    while (!stopped.signal.aborted) {
      const { status } = await client.send(request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await wait(everyMs, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  return {
    statuses,
    async stop() {
      stopped.abort();
      await running;
      client.close();
    },
  };
}

/** Polls the feed twenty times a second, from before the tests of the `describe` that calls this until after them. */
export function useTraffic(service: { url: string; account(): Promise<{ key: string }> }): Traffic {
  const start = async () => {
    const { key } = await service.account();
    return startTraffic(
      service.url,
      { method: "GET", path: "/candidates?updated_since=2100-01-01T00:00:00Z", key },
      50,
    );
  };
  return useStarted("The traffic", start, (traffic) => traffic.stop());
}
