import type { Caller } from "../accounts/caller.ts";
import type { RequestState } from "../http/request.ts";
import type { Decision } from "../limiter/decision.ts";
import type { Usage } from "../limiter/usage.ts";

/** What the middleware learns about a request. The access log is written from it. */
export interface ApiState extends RequestState {
  endpointName?: string;
  caller?: Caller;
  decision?: Decision;
  /** What the key and its account have used. Read for a free route only. */
  usage?: Usage;
}
