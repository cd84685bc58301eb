import { UnreadableRecord } from "../candidates/unreadable.ts";
import { isGone } from "../problems.ts";

/**
 * Waits for a task about a candidate. Returns undefined if the candidate was erased, or if its record cannot be read: it must
 * not hold up the reminders of others.
 */
export async function unlessErased<T>(task: Promise<T>): Promise<T | undefined> {
  try {
    return await task;
  } catch (error) {
    if (isGone(error) || error instanceof UnreadableRecord) return undefined;
    throw error;
  }
}
