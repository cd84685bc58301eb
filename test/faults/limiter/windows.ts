import { setTimeout } from "node:timers/promises";

/** Long enough to fit a fault, the recovery and the exhaustion of the limits into one window several times. */
export const WINDOW_SECONDS = 30;

const WINDOW_MS = WINDOW_SECONDS * 1000;

/** Returns the window that ends in `resetMs` milliseconds. Redis runs on this machine and has the same clock. */
export function windowOf(resetMs: number): number {
  return Math.round((Date.now() + resetMs) / WINDOW_MS) - 1;
}

/** Waits until at least `ms` milliseconds of the current window are left. */
export async function roomFor(ms: number): Promise<void> {
  if (leftMs() < ms) await setTimeout(leftMs() + 20);
}

/** Waits until `ms` milliseconds before the end of a window. */
export async function beforeEdge(ms: number): Promise<void> {
  await setTimeout((leftMs() - ms + WINDOW_MS) % WINDOW_MS);
}

function leftMs(): number {
  return WINDOW_MS - (Date.now() % WINDOW_MS);
}
