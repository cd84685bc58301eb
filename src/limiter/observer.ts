import type { Metrics } from "../infra/metrics.ts";
import type { Decision, Verdict } from "./decision.ts";
import type { Surface } from "./surfaces.ts";

/** The label `scope` of each verdict. */
const SCOPES: Record<Verdict, "account" | "key" | "grant" | ""> = {
  admitted: "",
  granted: "grant",
  account_exhausted: "account",
  key_exhausted: "key",
  outdated: "key",
  replaced: "key",
};

/** Counts and times the limiter's decisions. Times are those of `performance.now()`. */
export class Observer {
  readonly #metrics: Metrics;
  #answering = true;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  decided({ surface, verdict }: Decision, started: number): void {
    this.#answering = true;
    this.#metrics.decisionDuration.observe((performance.now() - started) / 1000);
    this.#metrics.decisions.inc({ surface, verdict, scope: SCOPES[verdict] });
  }

  /** Redis did not decide in time. The first such request after a decided one begins an outage. */
  unanswered(surface: Surface, started: number): void {
    if (this.#answering) this.#metrics.limiterOutages.inc();
    this.#answering = false;
    this.#metrics.decisionDuration.observe((performance.now() - started) / 1000);
    this.#metrics.decisions.inc({ surface, verdict: "unavailable", scope: "" });
  }

  /** The replica decided in memory after all. */
  decidedLocally({ surface }: Decision): void {
    this.#metrics.localDecisions.inc({ surface });
  }

  /** The replica repeated a refusal of Redis by itself. Nothing is timed, because Redis was not asked. */
  repeated({ surface, verdict }: Decision): void {
    const scope = SCOPES[verdict];
    this.#metrics.repeatedRefusals.inc({ surface, scope });
    this.#metrics.decisions.inc({ surface, verdict, scope });
  }

  /** @param error set if the script failed, or its answer was lost. */
  ran(started: number, error?: unknown): void {
    this.#metrics.operation("redis", "evalsha", started, error);
  }
}
