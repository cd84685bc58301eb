import { ANSWER_SECONDS, type Child } from "./children.ts";
import type { Order, RunResult } from "./programs/generator.ts";

export type { RunResult };
export type Run = Omit<Extract<Order, { do: "run" }>, "do">;

/** The load generator, in a process of its own. */
export class Generator {
  readonly #child: Child;

  /** @param child runs programs/generator. */
  constructor(child: Child) {
    this.#child = child;
  }

  /** Opens connections, runs `use`, and closes them. */
  async connected<T>(port: number, connections: number, use: (run: (run: Run) => Promise<RunResult>) => Promise<T>) {
    await this.#send({ do: "open", port, connections });
    try {
      return await use((run) => this.#send({ do: "run", ...run }) as Promise<RunResult>);
    } finally {
      await this.#send({ do: "close" });
    }
  }

  #send(order: Order): Promise<unknown> {
    return this.#child.ask(order, ANSWER_SECONDS + (order.do === "run" ? order.seconds : 0));
  }
}

/** Writes a request out. Names of headers are as given. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): string {
  const lines = Object.entries({
    Host: "127.0.0.1",
    ...headers,
    ...(body === "" ? {} : { "Content-Length": String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
