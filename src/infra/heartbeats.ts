import { setTimeout as wait } from "node:timers/promises";
import type { MongoClient } from "mongodb";

/** What a heartbeat may take beyond the driver's own limit, in milliseconds. */
const GRACE_MS = 500;
const RETRY_MS = 500;

export interface HeartbeatsOptions {
  onRevival: () => void;
  /** Aborted when the client is closed for good. */
  signal: AbortSignal;
}

/**
 * Connects a client anew whose heartbeat never ends. mongodb 7.8 checks a server over a socket that may have just been
 * destroyed and not said so yet; it then waits for that socket to drain, without a limit, and meanwhile no operation finds
 * a server, for ever. (A mongod that streams its heartbeats is spared: the driver drops that socket at the first error.)
 */
export function reviveStuckClient(client: MongoClient, { onRevival, signal }: HeartbeatsOptions): void {
  const { connectTimeoutMS, heartbeatFrequencyMS } = client.options;
  const pending = new Map<string, NodeJS.Timeout>();
  let reviving = false;

  client.on("serverHeartbeatStarted", ({ connectionId: server, awaited }) => {
    ended(server);
    // A server that streams its heartbeats holds each back until something changes, or so long.
    const limit = (awaited ? heartbeatFrequencyMS : 0) + connectTimeoutMS + GRACE_MS;
    // An answer that is here already, and waits for a process that stood still, is taken first.
    const timer = setTimeout(() => setImmediate(() => pending.get(server) === timer && void revive()), limit).unref();
    pending.set(server, timer);
  });
  client.on("serverHeartbeatSucceeded", ({ connectionId }) => ended(connectionId));
  client.on("serverHeartbeatFailed", ({ connectionId }) => ended(connectionId));
  client.on("serverClosed", ({ address }) => ended(address));

  function ended(server: string): void {
    clearTimeout(pending.get(server));
    pending.delete(server);
  }

  /** Operations fail meanwhile, as they did before. */
  async function revive(): Promise<void> {
    if (reviving || signal.aborted) return;
    reviving = true;
    onRevival();
    await client.close().catch(() => undefined);
    while (
      !signal.aborted &&
      !(await client.connect().then(
        () => true,
        () => false,
      ))
    )
      await wait(RETRY_MS, undefined, { ref: false });
    if (signal.aborted) await client.close().catch(() => undefined);
    reviving = false;
  }
}
