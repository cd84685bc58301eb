import { jsonPayload } from "./payload.ts";
import type { Call, CallOptions } from "./transport.ts";

export interface ImportOptions {
  /** What to do if the external_id is taken: change that candidate to what is sent, or leave it. By default it is refused. */
  readonly onConflict?: "update" | "skip" | undefined;
  /** Keeps the text of an email, phone or date that is refused in metadata, as `unreadable.FIELD`. By default it is refused. */
  readonly unreadable?: "metadata" | undefined;
}

export type CreateOptions = CallOptions & ImportOptions;

export function importQuery({ onConflict, unreadable }: ImportOptions): NonNullable<Call["query"]> {
  return { on_conflict: onConflict, unreadable };
}

/** Returns the call that creates (POST) or changes (PATCH) candidates. It counts as that many. */
export function bulkCall(method: "POST" | "PATCH", candidates: readonly object[], options: CreateOptions): Call {
  const count = candidates.length;
  return {
    method,
    path: "/candidates/bulk",
    surface: method === "POST" ? "create" : "writes",
    cost: count,
    query: { count, ...(method === "POST" ? importQuery(options) : {}) },
    payload: jsonPayload({ candidates }),
    options,
  };
}
