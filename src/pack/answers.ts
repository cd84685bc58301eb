/** Nesting that is laid out line by line; what is deeper is shown as JSON on one. */
const MAX_LEVELS = 6;

/** One answer of a reference: where it stands in the response, and what it says. */
export type Answer = readonly [question: string, answer: string];

/** A reference's response, an object of any shape, as a list: `{ a: { b: [1] } }` gives `a › b › 1: 1`. */
export function answersOf(response: Record<string, unknown> | null): Answer[] {
  return response === null ? [] : Object.entries(response).flatMap(([name, value]) => flatten([name], value));
}

function flatten(path: readonly string[], value: unknown): Answer[] {
  if (typeof value !== "object" || value === null || path.length >= MAX_LEVELS)
    return [[path.join(" › "), textOf(value)]];
  const members = Array.isArray(value)
    ? value.map((item, index) => [String(index + 1), item] as const)
    : Object.entries(value);
  if (members.length === 0) return [[path.join(" › "), textOf(null)]];
  return members.flatMap(([name, member]) => flatten([...path, name], member));
}

function textOf(value: unknown): string {
  if (value === null) return "—";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return typeof value === "string" ? value : JSON.stringify(value);
}
