import type { Operations } from "./operations.ts";

/** Does the work of a command with the services. Prints what the work returns, unless undefined, as JSON. */
export type Run = (work: (operations: Operations) => Promise<object | undefined>) => Promise<void>;

/** Parses a plain decimal number. Returns NaN for anything else; the service then says what it must be. */
export function numberIn(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}
