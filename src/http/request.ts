import type { IncomingMessage } from "node:http";
import type Router from "@koa/router";
import type { DefaultState, Middleware } from "koa";
import type { NewId } from "../infra/ids.ts";
import { problem, type Refusal } from "../problems.ts";
import { isEncoded } from "../urls.ts";

/** What every middleware knows about a request. */
export interface RequestState extends DefaultState {
  requestId: string;
  /** The path of the route, for example /candidates/:id. Undefined if none matches. */
  route?: string;
  /** 32 hexadecimal digits. Undefined without tracing. */
  traceId?: string;
  /** Why the request was refused, and the address of its client when it was. Only for the log. */
  refused?: { readonly refusal: Refusal; readonly address: string };
  /** The error behind a 5xx, or behind a response that broke off. Only for the log. */
  failure?: unknown;
}

/** `started` is set, once, when the process begins to shut down. */
export interface Draining {
  started: boolean;
}

/** Returns a header by its lower-case name; undefined if it is absent or empty. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the request's X-Request-Id if it is 1-128 plain characters, else a new id. Every response has it. */
export function requestIdOf({ headers }: IncomingMessage, newId: NewId): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && /^[\w.:+/=-]{1,128}$/.test(given) ? given : newId("req");
}

/** Returns a function that warns once of X-Forwarded-For if no proxy is trusted: all clients then count as one address. */
export function warnerOfProxies(log: { warn(message: string): void }): (req: IncomingMessage) => void {
  let warned = false;
  return ({ headers }) => {
    if (warned || headers["x-forwarded-for"] === undefined) return;
    warned = true;
    log.warn(
      "A request has X-Forwarded-For, but TRUSTED_PROXIES is 0, so the header is ignored. If a load balancer of yours sent it, set TRUSTED_PROXIES to the number of proxies that append to it.",
    );
  };
}

/** @throws problem malformed_request for an HTTP/1.1 request with no Host header, or with several (RFC 9112, 3.2). */
export function checkHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === "host") hosts++;
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1"))
    throw problem("malformed_request", "Send exactly one Host header.", { headers: { Connection: "close" } });
}

/** @throws problem malformed_path if the path's percent-encoding is broken or not UTF-8. */
export function checkPath(path: string): void {
  const detail =
    "The path is not valid percent-encoded UTF-8. Encode each byte of the text as % and two hexadecimal digits.";
  if (path.includes("%") && !isEncoded(path)) throw problem("malformed_path", detail);
}

/** Refuses what the router leaves, uncharged: 404 for a path, and 405 with Allow for a method that the path does not take. */
export function unrouted(router: Pick<Router, "match">): Middleware<RequestState> {
  return ({ path, method }) => {
    const { path: layers } = router.match(path, method);
    if (layers.length === 0) throw problem("not_found", "This path does not exist. Read /openapi.json for all paths.");
    const allow = [...new Set(layers.flatMap(({ methods }) => methods))].toSorted().join(", ");
    const detail = `This path does not take ${method}. Use ${allow}.`;
    throw problem("method_not_allowed", detail, { headers: { Allow: allow } });
  };
}
