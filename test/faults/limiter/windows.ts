import { setTimeout } from "node:timers/promises";

/** Long enough for a fault, recovery and exhaustion to lie within one window, and for a few such cases. */
export const WINDOW_SECONDS = 30;

const WINDOW_MS = WINDOW_SECONDS * 1000;

/** The window that ends so long from now. Redis is on this machine, so this clock is its own. */
export function windowOf(resetMs: number): number {
  return Math.round((Date.now() + resetMs) / WINDOW_MS) - 1;
}

/** Resolves in a window with so much left of it. */
export async function roomFor(ms: number): Promise<void> {
  if (leftMs() < ms) await setTimeout(leftMs() + 20);
}

/** Resolves so long before a window's end. */
export async function beforeEdge(ms: number): Promise<void> {
  await setTimeout((leftMs() - ms + WINDOW_MS) % WINDOW_MS);
}

function leftMs(): number {
  return WINDOW_MS - (Date.now() % WINDOW_MS);
}
