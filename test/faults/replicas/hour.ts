import { setTimeout } from "node:timers/promises";

const HOUR_MS = 3_600_000;
const ROOM_MS = 45_000;

/** Waits for the next hour if the current one ends within `roomMs`, so that no window ends in the middle of a test. */
export async function clearOfTheHour(roomMs = ROOM_MS): Promise<void> {
  const left = HOUR_MS - (Date.now() % HOUR_MS);
  if (left < roomMs) await setTimeout(left + 100);
}
