import { invalid } from "../problems.ts";

const MAX_NAME_LENGTH = 200;
const MAX_GRACE_SECONDS = 90 * 24 * 3600;

/** Returns the name. @throws problem `validation_failed` if it does not have 1 to 200 characters, or is blank. */
export function checkedName(name: string): string {
  const { length } = Array.from(name); // characters, not UTF-16 units
  if (name.trim() !== "" && length <= MAX_NAME_LENGTH) return name;
  throw invalid("/name", name.trim() === "" ? "must not be blank" : `must have at most ${MAX_NAME_LENGTH} characters`);
}

/**
 * Returns the grace.
 * @throws problem `validation_failed` if it is not a whole number from 0 to 7,776,000 seconds (90 days).
 */
export function checkedGrace(seconds: number): number {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_GRACE_SECONDS) return seconds;
  throw invalid("/grace_seconds", `must be a whole number from 0 to ${MAX_GRACE_SECONDS}`);
}
