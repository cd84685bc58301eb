import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { type DbSystem, Metrics } from "./metrics.ts";
import { isStoreOutage } from "./mongo.ts";
import { RedisOutage } from "./redis.ts";

/** Minimum and maximum pause between two attempts, in milliseconds. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [50, 500];
const REPORT_EVERY_MS = 60_000;

/** What a process has before it is connected, and how it waits for Redis and MongoDB. */
export class Startup {
  readonly log: Logger;
  readonly metrics = new Metrics();
  /** Names the server that the process waits for. */
  faults: string[] = [];
  readonly isPatient: boolean;
  readonly #reportAt = new Map<DbSystem, number>();

  /** @param isPatient false if an outage is thrown as well. */
  constructor(log: Logger, isPatient: boolean) {
    this.log = log;
    this.isPatient = isPatient;
  }

  /** Repeats the attempt while the server does not respond. The log says so at once and every minute. @throws other errors */
  async untilUp<T>(server: DbSystem, attempt: () => Promise<T>): Promise<T> {
    for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        const result = await attempt();
        this.metrics.dependencyUp.set({ db_system_name: server }, 1);
        this.faults = [];
        return result;
      } catch (error) {
        if (!this.isPatient || !(error instanceof RedisOutage || isStoreOutage(error))) throw error;
        this.metrics.dependencyUp.set({ db_system_name: server }, 0);
        this.faults = [`${server} does not answer`];
        if (performance.now() >= (this.#reportAt.get(server) ?? 0)) {
          this.#reportAt.set(server, performance.now() + REPORT_EVERY_MS);
          const { message, cause } = error;
          const shown = { message, cause: cause instanceof Error ? cause.message : undefined };
          this.log.warn({ server, error: shown }, "a server does not respond, waiting for it");
        }
        await wait(pauseMs);
      }
    }
  }
}
