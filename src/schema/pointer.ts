/** Characters of a name that `shortToken` repeats. Each fault below it has a pointer of its own. */
const MAX_NAME = 100;

/** Escapes a member's name as a reference token of a JSON Pointer (RFC 6901, 3). */
export function escapePointer(member: string): string {
  return member.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Returns the first 100 characters of a member's name as a reference token, without lone surrogates. */
export function shortToken(member: string): string {
  return escapePointer(member.slice(0, MAX_NAME).toWellFormed());
}
