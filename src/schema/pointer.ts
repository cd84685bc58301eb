/** Escapes a member's name as a reference token of a JSON Pointer (RFC 6901, 3). */
export function escapePointer(member: string): string {
  return member.replaceAll("~", "~0").replaceAll("/", "~1");
}
