import type { ServerResponse } from "node:http";
import pLimit, { type LimitFunction } from "p-limit";

/** Maximum responses of one account that are not sent whole. One has up to 8 MiB, and a client may read nothing for minutes. */
const MAX_UNSENT = 16;
const accounts = new Map<string, LimitFunction>();

/** Waits until the account has a place for one more large response. The place is free once it is sent, or its client has left. */
export function placeFor(accountId: string, res: ServerResponse): Promise<void> {
  const limit = accounts.get(accountId) ?? pLimit(MAX_UNSENT);
  accounts.set(accountId, limit);
  return new Promise((begin) => {
    const sent = limit(() => {
      begin();
      return new Promise<void>((end) => (res.req.socket.destroyed ? end() : res.once("close", end)));
    });
    void sent.then(() => limit.activeCount + limit.pendingCount === 0 && accounts.delete(accountId));
  });
}
