import type { Worker } from "node:cluster";
import { on } from "node:events";
import { AggregatorRegistry, type Registry } from "prom-client";
import type { OpsSource } from "./ops.ts";

/** How long a replica may take to answer the supervisor, in milliseconds. */
const METRICS_WITHIN_MS = 500;
/** /readyz asks Redis and MongoDB, whose time limits are longer. A probe usually gives up after this long. */
const FAULTS_WITHIN_MS = 5_000;

/** Types of metrics whose values only grow, so that those of ended replicas count. */
const COUNTING = new Set<unknown>(["counter", "histogram"]);

type Exported = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

export interface ReplicaSource {
  faults(): Promise<string[]>;
  metrics(): Promise<Exported>;
}

interface Question {
  readonly ask: keyof ReplicaSource;
  readonly id: number;
}

/** Answers operators for all replicas that share a port. The supervisor asks each replica. */
export class FleetOps implements OpsSource {
  readonly #workers: () => readonly Worker[];
  readonly #draining: () => boolean;
  /** The last metrics of each replica that runs. Keys are worker ids. */
  readonly #last = new Map<number, Exported>();
  /** The sums of the replicas that have ended. */
  #ended: Promise<Exported> = Promise.resolve([]);

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
    await Promise.all(this.#workers().map((worker) => this.#refresh(worker)));
    const running = [...this.#last.values()];
    return AggregatorRegistry.aggregate([...running, await this.#ended]).metrics();
  }

  /**
   * Keeps the counts of a replica that has ended. Otherwise sums would fall, and Prometheus would take that for a restart
   * and count everything again. Its counts since the last scrape are lost.
   */
  ended(worker: Worker): void {
    const counts = (this.#last.get(worker.id) ?? []).filter(({ type }) => COUNTING.has(type));
    this.#last.delete(worker.id);
    this.#ended = this.#ended.then((before) => AggregatorRegistry.aggregate([before, counts]).getMetricsAsJSON());
  }

  async #refresh(worker: Worker): Promise<void> {
    const metrics = await ask(worker, "metrics", METRICS_WITHIN_MS);
    // If it has ended meanwhile, `ended` has already counted its last values.
    if (metrics !== undefined && !worker.isDead()) this.#last.set(worker.id, metrics);
  }
}

/** Answers the questions of the supervisor, in a process that it has forked. */
export function answerSupervisor(source: ReplicaSource): void {
  process.on("message", ({ ask: question, id }: Partial<Question>) => {
    if (question !== undefined) void source[question]().then((answer) => process.send?.({ answer, id }));
  });
}

/** @throws {Error} with the faults of a replica that cannot serve. */
async function serves(worker: Worker): Promise<void> {
  const faults = (await ask(worker, "faults", FAULTS_WITHIN_MS)) ?? ["a replica does not answer"];
  if (faults.length > 0) throw new Error(faults.join("; "));
}

let questions = 0;

/** @returns undefined if the replica does not answer within this many milliseconds, because it hangs or has ended. */
async function ask<Q extends Question["ask"]>(
  worker: Worker,
  question: Q,
  withinMs: number,
): Promise<Awaited<ReturnType<ReplicaSource[Q]>> | undefined> {
  const id = ++questions;
  const messages = on(worker, "message", { signal: AbortSignal.timeout(withinMs), close: ["exit"] });
  worker.send({ ask: question, id } satisfies Question, () => undefined);
  try {
    for await (const [message] of messages) if (message.id === id) return message.answer;
  } catch {
    // It hangs.
  }
  return undefined;
}
