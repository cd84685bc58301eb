/** Builds a path: path`/candidates/${id}`. @throws TypeError for an empty id, `.` or `..`, which would name something else. */
export function path(parts: TemplateStringsArray, ...ids: string[]): string {
  for (const id of ids) if (/^\.{0,2}$/.test(id)) throw new TypeError(`This is not an id: ${JSON.stringify(id)}`);
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent));
}
