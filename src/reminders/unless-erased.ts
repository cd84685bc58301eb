import { isGone } from "../problems.ts";

/** Waits for a task about a candidate. Returns undefined if the candidate was erased. */
export async function unlessErased<T>(task: Promise<T>): Promise<T | undefined> {
  try {
    return await task;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
