import type { Client } from "../../support/client.ts";
import { LoadClient, type LoadAnswer } from "../../support/load.ts";

/** Sends creates in several concurrent loops, and counts how they end. */
export class Creates {
  /** Number of answers by status. */
  readonly answers = new Map<number, number>();
  /** Errors of requests that were sent and got no response. */
  readonly lost: string[] = [];
  /** Number of requests that could not be sent, because no connection was accepted. */
  unsent = 0;
  #over = false;
  readonly #load: LoadClient;
  readonly #lanes: Promise<void>;
  readonly #watchers = new Set<() => void>();

  constructor({ url, key }: Client, lanes: number) {
    this.#load = new LoadClient(url, lanes);
    this.#lanes = Promise.all(Array.from({ length: lanes }, () => this.#lane(key))).then(() => this.#load.close());
  }

  count(status: number): number {
    return this.answers.get(status) ?? 0;
  }

  /** Resolves after that many more creates have succeeded. @throws if one got no answer. */
  async succeeded(more: number): Promise<void> {
    const wanted = this.count(201) + more;
    while (this.count(201) < wanted) {
      if (this.unsent + this.lost.length > 0) throw new Error(`${this.unsent} unsent; lost: ${this.lost.join(", ")}`);
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  /** Ends the loops after their current request. */
  async end(): Promise<void> {
    this.#over = true;
    await this.#lanes;
  }

  async #lane(key: string): Promise<void> {
    while (!this.#over) {
      const answer = await this.#send(key);
      if (answer !== undefined) this.answers.set(answer.status, this.count(answer.status) + 1);
      for (const wake of this.#watchers) wake();
      this.#watchers.clear();
      if (answer === undefined) return;
    }
  }

  async #send(key: string): Promise<LoadAnswer | undefined> {
    try {
      return await this.#load.send({ method: "POST", path: "/candidates", key, body: "{}" });
    } catch (error) {
      const { syscall, message } = error as NodeJS.ErrnoException;
      if (syscall === "connect") this.unsent++;
      else this.lost.push(message);
      return undefined;
    }
  }
}
