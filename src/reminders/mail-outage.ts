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
export function mailOutage({ mailer, log, metrics, pauseMs = 5_000 }: MailOutageOptions) {
  /** The mail server is not used before this time, by `performance.now()`. */
  let pausedUntil = 0;
  /** Number of consecutive failures to use the mail server. */
  let outages = 0;
  const isPaused = () => performance.now() < pausedUntil;

  /** Returns whether mail can be sent. Asks the mail server if it could not be used the last time. */
  async function isOver(): Promise<boolean> {
    if (isPaused()) return false;
    if (outages === 0) return true;
    const fault = await mailer.fault();
    if (fault !== undefined) note(fault);
    return fault === undefined;
  }

  function note({ code, step }: Fault): void {
    if (isPaused()) return; // several messages failed at once
    const pause_ms = Math.min(pauseMs * 2 ** outages, MAX_PAUSE_MS);
    outages++;
    pausedUntil = performance.now() + pause_ms;
    metrics.mailOutages.inc();
    const advice = step === "STARTTLS" && /^50[02]$/.test(code) ? `: ${NO_TLS}` : "";
    log.warn({ code, step, pause_ms }, `the mail server cannot be used${advice}`);
  }

  /** Notes that the mail server has replied. */
  const end = () => void (outages = 0);

  return { isPaused, isOver, note, end };
}
