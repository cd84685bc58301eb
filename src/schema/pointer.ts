/** One reference token of a JSON Pointer (RFC 6901, 3). */
export function escapePointer(member: string): string {
  return member.replaceAll("~", "~0").replaceAll("/", "~1");
}
