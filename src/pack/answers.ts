/** Levels of nesting that get one line per value. Deeper values are shown as JSON, on one line. */
const MAX_LEVELS = 6;

/** One value in a reference's response: its path, and its text. */
type Answer = readonly [question: string, answer: string];

/**
 * Flattens a reference's response, an object of any shape: `{ a: { b: [1] } }` gives `a › b › 1: 1`. Questions and answers as
 * the referee's page stores them, `{ answers: [{ question, answer }] }`, need no path. Metadata is flattened, too.
 * @param limit maximum number of values to show. The texts of the others are never made: with a name of thousands of
 * characters above thousands of values, the paths would be a thousand times as long as the response.
 * @returns the first values, and the number of those that were left out.
 */
export function answersOf(
  response: Record<string, unknown> | null,
  limit: number,
  yesNo: readonly [yes: string, no: string],
): { shown: readonly Answer[]; more: number } {
  const leaves = [...leavesOf([], response ?? {})];
  const shown = leaves.slice(0, limit).map(([path, value]): Answer => [path.join(" › "), textOf(value, yesNo)]);
  return { shown, more: leaves.length - shown.length };
}

function* leavesOf(path: readonly string[], value: unknown): Generator<[path: readonly string[], value: unknown]> {
  if (typeof value !== "object" || value === null || path.length >= MAX_LEVELS) {
    yield [path, value];
    return;
  }
  const members = Object.entries(value);
  if (path[0] === "answers" && members.length === 2 && "question" in value && "answer" in value) {
    yield [[String(value.question)], value.answer];
    return;
  }
  if (members.length === 0 && path.length > 0) yield [path, null];
  for (const [name, member] of members)
    yield* leavesOf([...path, Array.isArray(value) ? String(Number(name) + 1) : name], member);
}

function textOf(value: unknown, [yes, no]: readonly [yes: string, no: string]): string {
  if (value === null) return "—";
  if (typeof value === "boolean") return value ? yes : no;
  return typeof value === "string" ? value : JSON.stringify(value);
}
