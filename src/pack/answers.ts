/** Levels of nesting that get one line per value. Deeper values are shown as JSON, on one line. */
const MAX_LEVELS = 6;

/** One value in a reference's response: its path, and its text. */
export type Answer = readonly [question: string, answer: string];

/** Flattens a reference's response, an object of any shape: `{ a: { b: [1] } }` gives `a › b › 1: 1`. */
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
