import { createHmac } from "node:crypto";
import { once } from "node:events";
import http, { type RequestOptions } from "node:http";
import https from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { connect } from "node:tls";
import { urlToHttpOptions } from "node:url";
import type { Logger } from "pino";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import { type Address, AddressRefused, type Receivers } from "./receivers.ts";
import type { LastDelivery } from "./schema.ts";
import type { WebhookRecord } from "./store.ts";

/** Maximum time for an answer, with all that precedes it, in milliseconds. */
const TIMEOUT_MS = 15_000;
/** Maximum size of the answer's body that is read, in bytes. None of it is kept. */
const MAX_READ = 1_024;
/** Maximum number of interim responses (1xx). Node.js bounds the size of each, and that of the headers. */
const MAX_INTERIM = 200;
/** Maximum number of addresses that a connection is tried to: a name may have many that belong to others. */
const MAX_TRIED = 4;
/** Maximum length of the reason in the log: a receiver's DNS and certificate have a part in it. */
const MAX_REASON = 300;

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
  readonly log: Pick<Logger, "debug" | "info">;
  readonly metrics: Metrics;
}

/** Returns a function that sends a nudge once, as Standard Webhooks 1.0.0 says. It never fails. */
export function delivery({ receivers, proxy, clock, log, metrics }: Dependencies) {
  // Counters that exist from the start let an alert see the first of them.
  for (const outcome of ["sent", "failed"]) metrics.nudges.inc({ outcome }, 0);

  /** Sends it, and returns the status of the answer, and its Retry-After. */
  async function post(webhook: WebhookRecord, nudge: Nudge, signal: AbortSignal) {
    const url = new URL(webhook.url);
    const over = once(signal, "abort").then(() => Promise.reject(signal.reason as Error));
    const addresses = (await Promise.race([receivers.addressesOf(url), over])).slice(0, MAX_TRIED);
    const now = clock.now();
    const data = { webhook: webhook.id, since: timestamp(nudge.since) };
    const body = JSON.stringify({ type: "candidates.changed", timestamp: timestamp(now), data });
    const headers = { ...signed(webhook, nudge.id, body, now), "content-length": body.length };
    const connection = proxy === null ? direct(addresses) : await tunnel(proxy, url, addresses, signal);
    const { request } = url.protocol === "https:" ? https : http;
    const sent = request(url, { ...connection, method: "POST", headers, signal });
    try {
      let interim = 0; // each may be as long as the headers of an answer, and more may follow without end
      sent.on("information", () => ++interim > MAX_INTERIM && sent.destroy(new Error("Too many interim responses.")));
      const closed = once(sent, "close").then(() => Promise.reject(new Error("No answer.")));
      const answered = once(sent, "response") as Promise<[http.IncomingMessage]>;
      sent.on("error", () => undefined); // also of what comes after the answer
      sent.end(body);
      const [answer] = await Promise.race([answered, closed]);
      await read(answer).catch(() => undefined); // the status has come in time
      const retryAfterMs = retryAfterOf(answer.headers["retry-after"], clock.now());
      return { status: answer.statusCode ?? 0, retryAfterMs };
    } finally {
      sent.destroy();
    }
  }

  return async (webhook: WebhookRecord, nudge: Nudge): Promise<Outcome> => {
    const began = performance.now();
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), TIMEOUT_MS);
    let reason: string | undefined; // for operators: it may say something of the network
    const none = (error: NodeJS.ErrnoException) => {
      reason = (error.message || error.code)?.slice(0, MAX_REASON); // an AggregateError, of several addresses, has no message
      return { status: null, error: over.signal.aborted ? "timeout" : errorOf(error), retryAfterMs: 0 } as const;
    };
    const answer = await post(webhook, nudge, over.signal).catch(none);
    clearTimeout(timer);
    const isSent = answer.status !== null && answer.status >= 200 && answer.status < 300;
    const outcome = { error: null, ...answer, isSent, at: timestamp(clock.now()), tookMs: performance.now() - began };
    metrics.nudges.inc({ outcome: isSent ? "sent" : "failed" });
    const { status, error } = outcome;
    const about = { account: webhook.account, webhook: webhook.id, message: nudge.id, status, error, reason };
    log[isSent ? "debug" : "info"](about, "nudge");
    return outcome;
  };
}

/** Connects to one of the addresses that were checked, and to no other. */
function direct(addresses: readonly Address[]): RequestOptions {
  const lookup: LookupFunction = (_name, { all }, done) => {
    const [first] = addresses;
    if (all || first === undefined) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
  return { agent: false, lookup };
}

/** As `direct`, through an HTTP proxy: it is asked for an address (CONNECT), so that it cannot look the name up again. */
async function tunnel(proxy: string, url: URL, addresses: readonly Address[], signal: AbortSignal) {
  const { address = "", family } = addresses.find((each) => each.family === 4) ?? addresses[0] ?? {};
  const isSecure = url.protocol === "https:";
  const path = `${family === 6 ? `[${address}]` : address}:${url.port || (isSecure ? 443 : 80)}`;
  const { auth, ...server } = urlToHttpOptions(new URL(proxy));
  const basic = auth ? { "proxy-authorization": `Basic ${Buffer.from(auth).toString("base64")}` } : {};
  const options = { ...server, method: "CONNECT", path, headers: { host: path, ...basic }, agent: false, signal };
  const asked = (server.protocol === "https:" ? https : http).request(options).end();
  const [{ statusCode }, socket] = (await once(asked, "connect", { signal })) as [http.IncomingMessage, Socket];
  signal.addEventListener("abort", () => socket.destroy(), { once: true });
  if (statusCode !== 200) throw new Error(`The proxy answered ${statusCode}.`, { cause: socket.destroy() });
  return { createConnection: () => (isSecure ? connect({ socket, servername: url.hostname }) : socket) };
}

/** Reads MAX_READ, so that the receiver can end in order, and drops it. */
async function read(answer: http.IncomingMessage): Promise<void> {
  let size = 0;
  for await (const part of answer) if ((size += (part as Buffer).length) > MAX_READ) break;
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
  const { code = "" } = error as { code?: string };
  return /TLS|SSL|CERT|SIGNED|VERIFY|^EPROTO$/.test(code) ? "tls" : /TIMEDOUT/.test(code) ? "timeout" : "connection";
}
