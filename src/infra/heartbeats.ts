import { setTimeout as wait } from "node:timers/promises";
import type { MongoClient } from "mongodb";
import { TimeLimit } from "./time-limit.ts";

/** Time that a heartbeat may take beyond the driver's own limit, in milliseconds. */
const GRACE_MS = 500;
/** Pause between attempts to reconnect, in milliseconds. */
const RETRY_MS = 500;

/**
 * Reconnects a client whose heartbeat is stuck. mongodb 7.8 may send a heartbeat over a socket that was just destroyed
 * but has not reported it yet. The driver then waits for that socket to drain, without a limit, and no operation finds
 * a server any more. (Streamed heartbeats are not affected: the driver drops their socket at the first error.)
 * @param on `signal` is aborted when the client is closed for good.
 */
export function reviveStuckClient(client: MongoClient, on: { onRevival(): void; signal: AbortSignal }): void {
  const { signal } = on;
  const { connectTimeoutMS, heartbeatFrequencyMS } = client.options;
  const pending = new Map<string, TimeLimit>();
  let reviving = false;

  client.on("serverHeartbeatStarted", ({ connectionId: server, awaited }) => {
    clearPending(server);
    // A server that streams its heartbeats delays each reply until something changes, for at most heartbeatFrequencyMS.
    const limit = (awaited ? heartbeatFrequencyMS : 0) + connectTimeoutMS + GRACE_MS;
    pending.set(server, new TimeLimit(limit, () => void revive()));
  });
  client.on("serverHeartbeatSucceeded", ({ connectionId }) => clearPending(connectionId));
  client.on("serverHeartbeatFailed", ({ connectionId }) => clearPending(connectionId));
  client.on("serverClosed", ({ address }) => clearPending(address));

  function clearPending(server: string): void {
    pending.get(server)?.clear();
    pending.delete(server);
  }

  /** Closes and reconnects the client. Operations fail until it is connected, as they did before. */
  async function revive(): Promise<void> {
    if (reviving || signal.aborted) return;
    reviving = true;
    on.onRevival();
    await client.close().catch(() => undefined);
    const connect = () => client.connect().catch(() => undefined);
    while (!signal.aborted && (await connect()) === undefined) await wait(RETRY_MS, undefined, { ref: false });
    if (signal.aborted) await client.close().catch(() => undefined);
    reviving = false;
  }
}
