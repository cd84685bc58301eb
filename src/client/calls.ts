import type { Surface } from "./limits.ts";
import { jsonPayload, type Payload } from "./payload.ts";
import { type Call, type CallOptions, json, nothing, Transport } from "./transport.ts";

/** Calls whose response is JSON, or nothing. */
export class Calls extends Transport {
  get<T>(at: string, options: CallOptions, surface: Surface = "reads", query: Call["query"] = {}): Promise<T> {
    return this.send({ method: "GET", path: at, surface, query, options }, json<T>);
  }

  post<T>(
    at: string,
    payload: Payload | undefined,
    options: CallOptions,
    surface: Surface = "writes",
    query: Call["query"] = {},
  ): Promise<T> {
    return this.send({ method: "POST", path: at, surface, query, payload, options }, json<T>);
  }

  patch<T>(at: string, patch: unknown, options: CallOptions, surface: Surface = "writes"): Promise<T> {
    const payload = jsonPayload(patch);
    return this.send({ method: "PATCH", path: at, surface, payload, options }, json<T>);
  }

  delete(at: string, options: CallOptions): Promise<void> {
    return this.send({ method: "DELETE", path: at, surface: "writes", options }, nothing);
  }
}
