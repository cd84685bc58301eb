import type { ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import pLimit, { type LimitFunction } from "p-limit";

/** Maximum responses of one account that are not sent whole. One has up to 8 MiB, and a client may read nothing for minutes. */
const MAX_UNSENT = 16;
const places = new LRUCache<string, LimitFunction>({ max: 1_000, memoMethod: () => pLimit(MAX_UNSENT) });

/** Waits until the account has a place for one more large response. The place is free once it is sent, or its client has left. */
export function placeFor(accountId: string, res: ServerResponse): Promise<void> {
  return new Promise((begin) => {
    void places.memo(accountId)(() => {
      begin();
      return new Promise<void>((end) => (res.req.socket.destroyed ? end() : res.once("close", end)));
    });
  });
}
