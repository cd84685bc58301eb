import type { IncomingHttpHeaders } from "node:http";

/** What is known of a request at its end. */
export interface RequestEnd {
  /** The path of the route, for example /candidates/:id. Undefined if no route answered. */
  readonly route: string | undefined;
  /** Undefined if no answer was begun. */
  readonly status: number | undefined;
}

export interface RequestSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  end(end: RequestEnd): void;
}

/** OpenTelemetry traces: a span for each request, and below it one for each command to Redis and MongoDB. */
export interface Tracing {
  /** Runs the work of a request inside its span. A `traceparent` header makes it part of the client's trace. */
  request<T>(
    request: { method: string; headers: IncomingHttpHeaders },
    work: (span: RequestSpan) => Promise<T>,
  ): Promise<T>;
  /** Sends the spans that are left, for at most a few seconds. Never fails. */
  close(): Promise<void>;
}
