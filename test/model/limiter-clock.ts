import type { LimiterEvent } from "./limiter-events.ts";

/**
 * Returns the number, from 1, of the first event whose script did not read the time of Redis's clock; 0 if there is none.
 *
 * Redis is on the recorder's machine, so both read one clock. The recorder sends a command when the one before it was answered,
 * and reads the clock after each answer. So the script's time is between the recorder's times before and after it. Redis and
 * the recorder both round down to a millisecond.
 */
export function firstWrongClock(events: readonly LimiterEvent[]): number {
  let before = 0;
  for (const [index, event] of events.entries()) {
    if (event.do !== "charge" && event.do !== "draw" && event.do !== "usage") continue;
    const now = event.do === "usage" ? event.now : event.answer?.now;
    if (now !== undefined && (now < before || now > event.at)) return index + 1;
    before = event.at;
  }
  return 0;
}
