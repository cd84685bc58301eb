import type { Tracing } from "./otel.ts";

/** Starts tracing if OTEL_EXPORTER_OTLP_ENDPOINT is set. Otherwise returns undefined, and does not load the SDK. */
export async function startTracing(endpoint: string | null): Promise<Tracing | undefined> {
  if (endpoint === null) return undefined;
  return (await import("./otel.ts")).startOtel();
}
