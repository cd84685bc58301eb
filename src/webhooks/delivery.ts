import { createHmac } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { urlToHttpOptions } from "node:url";
import { Agent, buildConnector, request } from "undici";
import { type Clock, timestamp } from "../infra/clock.ts";
import { type Address, AddressRefused, type Receivers } from "./receivers.ts";
import type { LastDelivery } from "./schema.ts";
import type { WebhookRecord } from "./store.ts";

/** Maximum time for an answer, with all that precedes it, in milliseconds. */
const TIMEOUT_MS = 15_000;
/** Maximum size of the answer's body that is read, in bytes. None of it is kept. */
const MAX_READ = 1_024;
/** Maximum size of all that comes on a connection, in bytes. undici bounds headers, but not interim responses and reason phrases. */
const MAX_RECEIVED = 256 * 1_024;

/** A nudge. */
export interface Nudge {
  /** webhook-id: a retry has the same. */
  readonly id: string;
  /** The first change that it tells of, in milliseconds since the epoch. */
  readonly since: number;
}

/** What became of an attempt. */
export interface Outcome extends LastDelivery {
  readonly isSent: boolean;
  /** What the receiver asked for (Retry-After), in milliseconds. 0 if it asked for nothing. */
  readonly retryAfterMs: number;
  readonly tookMs: number;
}

export type Deliver = ReturnType<typeof delivery>;

interface Dependencies {
  readonly receivers: Receivers;
  /** WEBHOOK_PROXY_URL */
  readonly proxy: string | null;
  readonly clock: Clock;
}

/** Returns a function that sends a nudge once, as Standard Webhooks 1.0.0 says. It never fails. */
export function delivery({ receivers, proxy, clock }: Dependencies) {
  /** Sends it, and returns the status of the answer, and its Retry-After. */
  async function post(webhook: WebhookRecord, nudge: Nudge, signal: AbortSignal) {
    const url = new URL(webhook.url);
    const body = bodyOf(webhook.id, nudge, clock.now());
    const headers = { ...signed(webhook, nudge.id, body, clock.now()), host: url.host };
    const late = once(signal, "abort").then(() => Promise.reject(signal.reason as Error));
    const addresses = await Promise.race([receivers.addressesOf(url), late]);
    const dispatcher = proxy === null ? direct(addresses) : tunnel(proxy, url, addresses, signal);
    try {
      // Until there is a connection, undici does not heed the signal.
      const asked = request(url, { method: "POST", headers, body, dispatcher, signal });
      const answer = await Promise.race([asked, late]);
      await answer.body.dump({ limit: MAX_READ, signal }).catch(() => undefined); // the status has come in time
      return { status: answer.statusCode, retryAfterMs: retryAfterOf(answer.headers["retry-after"], clock.now()) };
    } finally {
      void dispatcher.destroy();
    }
  }

  return async (webhook: WebhookRecord, nudge: Nudge): Promise<Outcome> => {
    const began = performance.now();
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(new DOMException("No answer in time.", "TimeoutError")), TIMEOUT_MS);
    const none = (error: unknown) => ({ status: null, error: errorOf(error), retryAfterMs: 0 });
    const answer = await post(webhook, nudge, over.signal).catch(none);
    clearTimeout(timer);
    const isSent = answer.status !== null && answer.status >= 200 && answer.status < 300;
    return { error: null, ...answer, isSent, at: timestamp(clock.now()), tookMs: performance.now() - began };
  };
}

/** Connects to one of the addresses that were checked, and to no other. */
function direct(addresses: readonly Address[]): Agent {
  const lookup: LookupFunction = (_name, { all }, done) => {
    const [first] = addresses;
    if (all || first === undefined) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
  return agent(buildConnector({ lookup }));
}

/**
 * As `direct`, through an HTTP proxy: it is asked for an address, so that it cannot look the name up again. ProxyAgent of undici would
 * connect without end to a proxy that closes the connection.
 */
function tunnel(proxy: string, { port, protocol }: URL, addresses: readonly Address[], signal: AbortSignal) {
  const { address = "", family } = addresses.find((each) => each.family === 4) ?? addresses[0] ?? {};
  const isSecure = protocol === "https:";
  const path = `${family === 6 ? `[${address}]` : address}:${port || (isSecure ? 443 : 80)}`;
  const { auth, ...server } = urlToHttpOptions(new URL(proxy));
  const basic = auth ? { "proxy-authorization": `Basic ${Buffer.from(auth).toString("base64")}` } : {};
  const options = { ...server, method: "CONNECT", path, headers: { host: path, ...basic }, agent: false, signal };
  const secure = buildConnector({});
  const connect: buildConnector.connector = (given, done) => {
    const asked = server.protocol === "https:" ? https.request(options) : http.request(options);
    asked.on("error", (error) => done(signal.aborted ? (signal.reason as Error) : error, null));
    asked.on("connect", ({ statusCode }, socket) => {
      if (statusCode === 200 && isSecure) return secure({ ...given, httpSocket: socket }, done);
      if (statusCode === 200) return done(null, socket);
      socket.destroy();
      done(new Error(`The proxy answered ${statusCode}.`), null);
    });
    asked.end();
  };
  return agent(connect);
}

function agent(connector: buildConnector.connector): Agent {
  const connect: buildConnector.connector = (options, done) =>
    connector(options, (...result) => {
      const [, socket] = result;
      const check = () => socket !== null && socket.bytesRead > MAX_RECEIVED && socket.destroy(new Error("Too long."));
      socket?.on("readable", check);
      done(...result);
    });
  return new Agent({ connect });
}

function bodyOf(webhook: string, { since }: Nudge, now: number): string {
  const data = { webhook, since: timestamp(since) };
  return JSON.stringify({ type: "candidates.changed", timestamp: timestamp(now), data });
}

/** Returns the headers of Standard Webhooks, with a signature by each secret that is valid. */
function signed({ secrets }: WebhookRecord, id: string, body: string, now: number) {
  const seconds = Math.floor(now / 1000);
  const signatures = secrets
    .filter(({ until }) => until === null || until > now)
    .map(({ secret }) => createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64")))
    .map((hmac) => `v1,${hmac.update(`${id}.${seconds}.${body}`).digest("base64")}`);
  return {
    "content-type": "application/json",
    "user-agent": "candidate-onboarding-service",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": signatures.join(" "),
  };
}

/** RFC 9110, 10.2.3: seconds, or a date. */
function retryAfterOf(header: string | string[] | undefined, now: number): number {
  if (typeof header !== "string") return 0;
  const date = header.endsWith(" GMT") ? Date.parse(header) : NaN; // Date.parse takes -3600 for a year
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : date - now;
  return ms > 0 ? ms : 0;
}

function errorOf(error: unknown): NonNullable<LastDelivery["error"]> {
  if (error instanceof AddressRefused) return "address";
  const { name, code = "" } = error as { name?: string; code?: string };
  if (name === "TimeoutError" || /TIMEOUT/.test(code)) return "timeout";
  return /TLS|SSL|CERT|SIGNED|VERIFY|^EPROTO$/.test(code) ? "tls" : "connection";
}
