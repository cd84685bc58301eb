import { type Problem, problem } from "../problems.ts";

const LONGEST_NAME = 200;
const LONGEST_GRACE_SECONDS = 90 * 24 * 3600;

/** @throws problem `validation_failed` for a name not of 1 to 200 characters, or of nothing but space. */
export function checkedName(name: string): string {
  const { length } = Array.from(name); // characters, not UTF-16 units
  if (name.trim() !== "" && length <= LONGEST_NAME) return name;
  throw invalid(
    "/name",
    `must have 1 to ${LONGEST_NAME} characters, not ${name.trim() === "" ? "none but space" : length}`,
  );
}

/** @throws problem `validation_failed` for what is no whole number of seconds from 0 to 7,776,000 (90 days). */
export function checkedGrace(seconds: number): number {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= LONGEST_GRACE_SECONDS) return seconds;
  throw invalid("/grace_seconds", `must be a whole number from 0 to ${LONGEST_GRACE_SECONDS}`);
}

/** One fault of what an operator gave. */
export function invalid(pointer: string, detail: string): Problem {
  return problem("validation_failed", `${pointer} ${detail}.`, { errors: [{ pointer, detail }] });
}
