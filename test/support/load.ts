import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";

/** One request of a load test. */
export interface LoadRequest {
  method: string;
  path: string;
  key: string;
  body?: string;
  /** Further headers. A Content-Type here replaces the default, JSON. */
  headers?: Record<string, string>;
}

export interface LoadAnswer {
  status: number;
  body: string;
  headers: Record<string, string | string[] | undefined>;
}

/** Sends requests to a service on this machine over up to `connections` kept-alive connections. Costs less than fetch. */
export class LoadClient {
  readonly #url: string;
  readonly #agent: Agent;

  /** @param keepAlive false opens a connection for each request. */
  constructor(url: string, connections: number, keepAlive = true) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive, maxSockets: connections });
  }

  /** Sends one request, without retries. @throws if the connection breaks. */
  send({ method, path, key, body, headers: more = {} }: LoadRequest): Promise<LoadAnswer> {
    return new Promise((resolve, reject) => {
      const headers: Record<string, string | number> = { Authorization: `Bearer ${key}` };
      if (body !== undefined)
        Object.assign(headers, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
      Object.assign(headers, more);
      const sent = request(this.#url + path, { method, agent: this.#agent, headers }, (response) => {
        text(response).then(
          (read) => resolve({ status: response.statusCode ?? 0, body: read, headers: response.headers }),
          reject,
        );
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
