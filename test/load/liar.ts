import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy before the service that gives one wrong answer on the surface list. */
export interface Liar {
  readonly url: string;
  close(): void;
}

interface Lie {
  /** Whether to answer this request wrongly. Asked until it returns true once. */
  fits(answer: IncomingMessage): boolean;
  /** Answers instead of the service. */
  tell(headers: Record<string, string>, outgoing: ServerResponse): void;
}

/** The answers of a service with a wrong limit, and of one whose limiter fails once. */
export const LIES = {
  /** Admits the first request that should be refused. */
  "one too many": {
    fits: ({ statusCode }) => statusCode === 429,
    tell: (headers, outgoing) =>
      outgoing
        .writeHead(200, { ...headers, "Content-Type": "application/json" })
        .end(JSON.stringify({ object: "list", data: [], has_more: false, cursor: "c" })),
  },
  /** Refuses the last request that its key's limit admits. */
  "one too few": {
    fits: ({ statusCode, headers }) => statusCode === 200 && /"key";r=0;/.test(String(headers["ratelimit"])),
    tell(headers, outgoing) {
      const reset = /"key";r=0;t=(\d+)/.exec(headers["RateLimit"] ?? "")?.[1] ?? "";
      outgoing
        .writeHead(429, { ...headers, "Content-Type": "application/problem+json", "Retry-After": reset })
        .end(JSON.stringify({ code: "rate_limited", scope: "key" }));
    },
  },
  /** Charges a request, but answers that the limiter is unavailable. */
  "503 once": {
    fits: ({ statusCode }) => statusCode === 200,
    tell: (headers, outgoing) =>
      outgoing
        .writeHead(503, { "X-Request-Id": headers["X-Request-Id"], "Content-Type": "application/problem+json" })
        .end(JSON.stringify({ code: "limiter_unavailable" })),
  },
} as const satisfies Record<string, Lie>;

/** Starts a proxy before the service at `target` that tells one lie, to a poll after the first five. */
export async function startLiar(target: string, name: keyof typeof LIES): Promise<Liar> {
  const lie: Lie = LIES[name];
  let polls = 0;
  let lied = false;
  const server = createServer((incoming, outgoing) => {
    const { method, url = "/", headers } = incoming;
    // The load test reads the limits with its first few polls.
    const late = url.startsWith("/candidates?updated_since") && ++polls > 5;
    const forwarded = request(target + url, { method, headers }, (answer) => {
      if (lied || !late || !lie.fits(answer)) {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
        return;
      }
      lied = true;
      answer.resume();
      const kept = ["X-Request-Id", "RateLimit", "RateLimit-Policy"];
      lie.tell(
        Object.fromEntries(kept.map((header) => [header, String(answer.headers[header.toLowerCase()])])),
        outgoing,
      );
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
