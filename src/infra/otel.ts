import { type TracingChannelSubscribers, tracingChannel } from "node:diagnostics_channel";
import type { IncomingHttpHeaders } from "node:http";
import { context, propagation, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { serviceInfo } from "./service-info.ts";
import { type OperationContext, STORE_CHANNEL } from "./store-channel.ts";

/**
 * Ends the span of a request.
 * @param route the path of the route, for example /candidates/:id. Undefined if no route matched.
 * @param status undefined if no response was begun.
 */
type EndRequest = (route: string | undefined, status: number | undefined) => void;

export type Tracing = ReturnType<typeof startOtel>;

/** Maximum time to send the last spans when the process stops, in milliseconds. */
const CLOSE_WITHIN_MS = 3_000;

/** ioredis publishes each command on this channel (diagnostics_channel), with this context. */
const REDIS_CHANNEL = "ioredis:command";

/**
 * Starts OpenTelemetry with OTLP over HTTP: a span for each request, and below it one for each command to Redis and MongoDB.
 * Names follow its semantic conventions 1.37 for HTTP and database spans. The SDK reads the endpoint and its other settings
 * from the environment. Only compose.ts loads this module, and only if tracing is on: it loads the SDK.
 */
export function startOtel() {
  const { name, version } = serviceInfo();
  const service = { "service.name": process.env["OTEL_SERVICE_NAME"] ?? name, "service.version": version };
  const resource = defaultResource().merge(resourceFromAttributes(service));
  const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter())];
  const provider = new NodeTracerProvider({ resource, spanProcessors });
  provider.register(); // W3C traceparent, and AsyncLocalStorage for the current span
  const tracer = provider.getTracer(name, version);

  /** Makes a span for each operation of a channel, if it belongs to a request. */
  function followChannel(channel: string, describe: (operation: object) => OperationContext): void {
    const spans = new WeakMap<object, Span>();
    const subscribers: TracingChannelSubscribers<object> = {
      start(operation) {
        if (trace.getActiveSpan() === undefined) return; // it belongs to a sweep or a check
        const { system, command, collection } = describe(operation);
        const attributes = { "db.system.name": system, "db.operation.name": command, "db.collection.name": collection };
        const title = collection === undefined ? command : `${command} ${collection}`;
        spans.set(operation, tracer.startSpan(title, { kind: SpanKind.CLIENT, attributes }));
      },
      end: () => undefined,
      asyncStart: () => undefined,
      asyncEnd: (operation) => spans.get(operation)?.end(),
      error(operation) {
        const { error } = operation;
        spans
          .get(operation)
          ?.setStatus({ code: SpanStatusCode.ERROR })
          .setAttribute("error.type", error instanceof Error ? error.name : "Error");
      },
    };
    tracingChannel<unknown, object>(channel).subscribe(subscribers);
  }

  followChannel(STORE_CHANNEL, (operation) => operation as OperationContext);
  followChannel(REDIS_CHANNEL, (operation) => ({
    system: "redis",
    command: (operation as { command: string }).command.toUpperCase(),
  }));

  return {
    /**
     * Runs the work of a request inside its span. A `traceparent` header makes it part of the client's trace.
     * @param work is called with the trace's id, 32 hexadecimal digits, and with what ends the span.
     */
    request<T>(method: string, headers: IncomingHttpHeaders, work: (traceId: string, end: EndRequest) => Promise<T>) {
      const parent = propagation.extract(context.active(), headers);
      const attributes = { "http.request.method": method };
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
      const end: EndRequest = (route, status) => {
        if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute("http.route", route);
        if (status !== undefined) span.setAttribute("http.response.status_code", status);
        if (status === undefined || status >= 500)
          span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", String(status ?? "aborted"));
        span.end();
      };
      return context.with(trace.setSpan(parent, span), () => work(span.spanContext().traceId, end));
    },
    /** Sends the spans that are left, for at most CLOSE_WITHIN_MS. Never fails. */
    async close(): Promise<void> {
      const timeout = new Promise((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), timeout]);
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}
