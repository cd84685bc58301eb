import { MAX_FAULTS } from "../problems.ts";
import { shortToken } from "./pointer.ts";

/** Returns whether JSON keeps a number as it came: as a whole number up to ±(2^53 - 1), or as a finite fraction. */
export function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** Returns a JSON Pointer to each number in a value that is not exact, up to one more than an answer lists. */
export function inexactIn(value: unknown): string[] {
  const pointers: string[] = [];
  const look = (part: unknown, at: string): void => {
    if (typeof part === "number" && !isExact(part)) pointers.push(at);
    if (typeof part !== "object" || part === null) return;
    for (const [name, member] of Object.entries(part)) {
      if (pointers.length > MAX_FAULTS) return;
      look(member, `${at}/${shortToken(name)}`);
    }
  };
  look(value, "");
  return pointers;
}
