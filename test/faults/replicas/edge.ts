import { setTimeout } from "node:timers/promises";

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ROOM_MS = 45_000;

/**
 * Waits for the next window if the current one ends within `roomMs`, so that none ends in the middle of a test.
 * @param windowMs length of a window. `testConfig` makes windows of a day.
 */
export async function clearOfTheEdge(roomMs = ROOM_MS, windowMs = DAY_MS): Promise<void> {
  const left = windowMs - (Date.now() % windowMs);
  if (left < roomMs) await setTimeout(left + 100);
}
