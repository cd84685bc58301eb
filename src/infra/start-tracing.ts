import type { Tracing } from "./tracing.ts";

/**
 * Starts tracing if there is an endpoint, else loads nothing and returns undefined.
 * @param endpoint OTEL_EXPORTER_OTLP_ENDPOINT. The SDK itself reads the other variables of OpenTelemetry, for example
 * OTEL_EXPORTER_OTLP_HEADERS and OTEL_TRACES_SAMPLER.
 */
export async function startTracing(endpoint: string | null): Promise<Tracing | undefined> {
  if (endpoint === null) return undefined;
  return (await import("./otel.ts")).startOtel(endpoint);
}
