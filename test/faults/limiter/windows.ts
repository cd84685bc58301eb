import { setTimeout } from "node:timers/promises";

/** Length of a window in seconds. Only a fault at the edge of a window waits for one to end. */
export const WINDOW_SECONDS = 86_400;
/** After a fault at the edge, the next window is long enough for the recovery and for exhausting the limits. */
export const SHORT_WINDOW_SECONDS = 20;

/** Returns the window that ends in `resetMs` milliseconds. Redis runs on this machine and has the same clock. */
export function windowOf(resetMs: number, seconds: number): number {
  return Math.round((Date.now() + resetMs) / (seconds * 1000)) - 1;
}

/** Waits until at least `ms` milliseconds of the current window of WINDOW_SECONDS are left. */
export async function roomFor(ms: number): Promise<void> {
  const left = leftMs(WINDOW_SECONDS);
  if (left < ms) await setTimeout(left + 20);
}

/** Waits until `ms` milliseconds before the end of a window of SHORT_WINDOW_SECONDS. */
export async function beforeEdge(ms: number): Promise<void> {
  const length = SHORT_WINDOW_SECONDS * 1000;
  await setTimeout((leftMs(SHORT_WINDOW_SECONDS) - ms + length) % length);
}

function leftMs(seconds: number): number {
  return seconds * 1000 - (Date.now() % (seconds * 1000));
}
