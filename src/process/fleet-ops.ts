import type { Worker } from "node:cluster";
import { Metrics } from "../infra/metrics.ts";
import { processMetrics } from "../infra/process-metrics.ts";
import { ask } from "./ask.ts";
import { Expositions } from "./exposition.ts";
import type { OpsSource } from "./ops.ts";

/** How long a replica may take to answer the supervisor, in milliseconds. */
const METRICS_WITHIN_MS = 500;
/** /readyz asks Redis and MongoDB, whose time limits are longer. A probe usually gives up after this long. */
const FAULTS_WITHIN_MS = 5_000;

/** Answers operators for all replicas that share a port. The supervisor asks each replica. */
export class FleetOps implements OpsSource {
  readonly #workers: () => readonly Worker[];
  readonly #draining: () => boolean;
  readonly #expositions = new Expositions([new Metrics().registry, processMetrics()]);
  /** The last metrics of each replica that runs. Keys are worker ids. */
  readonly #last = new Map<number, string>();

  constructor({ workers, draining }: { workers: () => readonly Worker[]; draining: () => boolean }) {
    this.#workers = workers;
    this.#draining = draining;
  }

  /** The port can be served as long as one of its replicas can. The first that can ends the wait. */
  async faults(): Promise<string[]> {
    if (this.#draining()) return ["draining"];
    try {
      await Promise.any(this.#workers().map(serves));
      return [];
    } catch (error) {
      const faults = (error as AggregateError).errors.map((fault: Error) => fault.message);
      return faults.length === 0 ? ["no replica runs"] : [...new Set(faults)];
    }
  }

  /** Adds up the metrics of the replicas. If a replica does not answer in time, its last values are used. */
  async metrics(): Promise<string> {
    const texts = await Promise.all(this.#workers().map((worker) => this.#metricsOf(worker)));
    return this.#expositions.sum(texts);
  }

  /** Keeps the counts of a replica that has ended, so that no sum falls. Its counts since the last scrape are lost. */
  ended(worker: Worker): void {
    this.#expositions.keep(this.#last.get(worker.id) ?? "");
    this.#last.delete(worker.id);
  }

  async #metricsOf(worker: Worker): Promise<string> {
    const text = await ask(worker, "metrics", METRICS_WITHIN_MS);
    // If it has ended meanwhile, `ended` has already counted its last values.
    if (text !== undefined && !worker.isDead()) this.#last.set(worker.id, text);
    return this.#last.get(worker.id) ?? "";
  }
}

/** @throws {Error} with the faults of a replica that cannot serve. */
async function serves(worker: Worker): Promise<void> {
  const faults = (await ask(worker, "faults", FAULTS_WITHIN_MS)) ?? ["a replica does not answer"];
  if (faults.length > 0) throw new Error(faults.join("; "));
}
