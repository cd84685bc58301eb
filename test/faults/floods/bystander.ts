import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { LoadClient } from "../../support/load.ts";
import { Lanes } from "../replicas/lanes.ts";
import { Tally } from "../tally.ts";

/** Milliseconds between a bystander's requests. */
const PACE_MS = 50;
/** Requests that a bystander sends even if the flood is over sooner: fewer would prove nothing. */
const MIN_REQUESTS = 20;

/** A client that sends ordinary requests during a flood, and watches the service's memory. */
export class Bystander {
  readonly tally = new Tally();
  readonly #load: LoadClient;
  readonly #lanes: Lanes;
  readonly #pids: () => readonly number[];
  readonly #watching: NodeJS.Timeout;
  readonly #before: number;
  #most = 0;

  /** @param pids the replicas' process ids. */
  constructor(url: string, key: string, pids: () => readonly number[]) {
    this.#pids = pids;
    this.#before = this.#rss();
    this.#watching = setInterval(() => this.#rss(), 100);
    this.#load = new LoadClient(url, 2);
    this.#lanes = new Lanes(2, async (lane, turn) => {
      const request =
        turn % 2 === 0
          ? { method: "GET", path: "/candidates?limit=1" }
          : { method: "POST", path: "/candidates", body: `{"name":"${lane}"}` };
      await this.tally.send(this.#load, { ...request, key });
      await setTimeout(PACE_MS);
    });
  }

  /** Stops the client. @returns by how many megabytes the resident memory of all replicas together has grown at its peak. */
  async end(): Promise<number> {
    while (this.tally.offered < MIN_REQUESTS) await setTimeout(PACE_MS);
    await this.#lanes.end();
    this.#load.close();
    this.#rss();
    clearInterval(this.#watching);
    return this.#most - this.#before;
  }

  #rss(): number {
    const kilobytes = this.#pids().map((pid) =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0),
    );
    const megabytes = Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / 1024);
    this.#most = Math.max(this.#most, megabytes);
    return megabytes;
  }
}
