import { createServer, type IncomingMessage } from "node:http";
import { forward, listen, type Proxy } from "./proxy.ts";

export type Lie = "one too many" | "one too few" | "503 once";

/** A wrong answer: its status, body and further headers. */
type Told = readonly [status: number, body: object, headers?: Record<string, string>];

/** The answers of a service with a wrong limit, and of one whose limiter fails once. Undefined tells the truth. */
const LIES: Record<Lie, (answer: IncomingMessage) => Told | undefined> = {
  /** Admits the first request that should be refused. */
  "one too many": ({ statusCode }) => (statusCode === 429 ? [200, {}] : undefined),
  /** Refuses the last request that its key's limit admits. */
  "one too few": ({ statusCode, headers }) => {
    const [, reset] = /"key-settings";r=0;t=(\d+)/.exec(String(headers["ratelimit"])) ?? [];
    if (statusCode !== 200 || reset === undefined) return undefined;
    return [
      429,
      { code: "rate_limited", scope: "key", "violated-policies": ["key-settings"] },
      { "Retry-After": reset },
    ];
  },
  /** Charges a request, but answers that the limiter is unavailable. */
  "503 once": ({ statusCode }) => (statusCode === 200 ? [503, { code: "limiter_unavailable" }] : undefined),
};

/** Starts a proxy in front of the service at `target`. It changes one response, on the surface `settings`. */
export async function startLiar(target: string, name: Lie): Promise<Proxy> {
  let lied = false;
  return listen(
    createServer((incoming, outgoing) =>
      forward(target, incoming, outgoing, (answer) => {
        const told = incoming.url === "/settings/assistant" && !lied ? LIES[name](answer) : undefined;
        if (told === undefined) return false;
        lied = true;
        answer.resume();
        const [status, body, more] = told;
        for (const kept of ["x-request-id", "ratelimit", "ratelimit-policy"])
          outgoing.setHeader(kept, String(answer.headers[kept]));
        const type = status === 200 ? "application/json" : "application/problem+json";
        outgoing.writeHead(status, { "Content-Type": type, ...more }).end(JSON.stringify(body));
        return true;
      }),
    ),
  );
}
