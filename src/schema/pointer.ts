import { MAX_FAULTS } from "../problems.ts";

/** Maximum characters of a member's name that a pointer repeats. A name of 1 MiB would be in the pointer of each fault below it. */
const MAX_NAME = 100;

/** Escapes a member's name as a reference token of a JSON Pointer (RFC 6901, 3). */
export function escapePointer(member: string): string {
  return member.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Returns a JSON Pointer to each member, item and name in a value that is at fault, up to one more than a response lists.
 * Names are cut, and lone surrogates in them replaced.
 */
export function pointersTo(value: unknown, isFault: (part: unknown) => boolean): string[] {
  const pointers: string[] = [];
  const look = (part: unknown, at: string): void => {
    if (isFault(part)) pointers.push(at);
    if (typeof part !== "object" || part === null) return;
    for (const [name, member] of Object.entries(part)) {
      if (pointers.length > MAX_FAULTS) return;
      const pointer = `${at}/${escapePointer(name.slice(0, MAX_NAME).toWellFormed())}`;
      if (isFault(name)) pointers.push(pointer);
      look(member, pointer);
    }
  };
  look(value, "");
  return pointers;
}
