import type { DefaultState } from "koa";
import type { Caller } from "../accounts/caller.ts";
import type { Decision } from "../limiter/limiter.ts";

/** What the middleware learn about a request on its way; the log line is made from it. */
export interface RequestState extends DefaultState {
  requestId: string;
  endpointName?: string;
  caller?: Caller;
  decision?: Decision;
  /** The failure behind a 5xx, or behind an answer that broke off; for the log only. */
  failure?: unknown;
}
