import type { Logger } from "pino";
import type { Metrics } from "../infra/metrics.ts";
import type { Fault, Mailer } from "./mailer.ts";

/** Maximum pause before the mail server is tried again, in milliseconds. */
const MAX_PAUSE_MS = 5 * 60_000;

const NO_TLS = "it does not take STARTTLS. Use smtps://, or add ?insecure=true if nobody can listen on the way to it";

export interface MailOutageOptions {
  readonly mailer: Mailer;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly metrics: Metrics;
  /** First pause after the mail server could not be used, in milliseconds. It doubles each time. */
  readonly pauseMs?: number;
}

/** Tracks whether the mail server can be used. After an outage nothing is sent until a pause is over. */
export class MailOutage {
  readonly #options: MailOutageOptions;
  /** The mail server is not used before this time, by `performance.now()`. */
  #pausedUntil = 0;
  /** Number of consecutive failures to use the mail server. */
  #outages = 0;

  constructor(options: MailOutageOptions) {
    this.#options = options;
  }

  isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /** Returns whether mail can be sent. Asks the mail server if it could not be used the last time. */
  async isOver(): Promise<boolean> {
    if (this.isPaused()) return false;
    if (this.#outages === 0) return true;
    const fault = await this.#options.mailer.fault();
    if (fault !== undefined) this.note(fault);
    return fault === undefined;
  }

  note({ code, step }: Fault): void {
    if (this.isPaused()) return; // several messages failed at once
    const { pauseMs = 5_000, log, metrics } = this.#options;
    const pause_ms = Math.min(pauseMs * 2 ** this.#outages, MAX_PAUSE_MS);
    this.#outages++;
    this.#pausedUntil = performance.now() + pause_ms;
    metrics.mailOutages.inc();
    const advice = step === "STARTTLS" && /^50[02]$/.test(code) ? `: ${NO_TLS}` : "";
    log.warn({ code, step, pause_ms }, `the mail server cannot be used${advice}`);
  }

  /** Notes that the mail server has replied. */
  end(): void {
    this.#outages = 0;
  }
}
