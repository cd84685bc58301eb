import { createHash } from "node:crypto";

/**
 * Maximum size of the answers that the form takes, in bytes of JSON. A candidate with 200 documents and 50 references with
 * such answers stays below MAX_CANDIDATE_BYTES.
 */
const MAX_RESPONSE_BYTES = 32 * 1024;
/** Maximum length of the answer to one question, in characters (code points). */
const MAX_ANSWER = 4_000;
/** Minimum limit, whatever the questions are. */
const MIN_LIMIT = 100;
/** Maximum bytes of one character in JSON, without control characters. */
const MAX_CHARACTER_BYTES = 4;

export type Answer = Readonly<{ question: string; answer: string }>;

/** What was typed into a form, by the names of its fields. */
export type Typed = readonly { readonly name: string; readonly text: string }[];

/** Returns the maximum length of each answer in code points, so that answers to all questions are stored whatever they say. */
export function answerLimit(questions: readonly string[]): number {
  const empty = { answers: questions.map((question) => ({ question, answer: "" })) };
  const free = MAX_RESPONSE_BYTES - Buffer.byteLength(JSON.stringify(empty));
  const limit = Math.min(MAX_ANSWER, free / questions.length / MAX_CHARACTER_BYTES);
  return Math.max(MIN_LIMIT, Math.floor(limit / 100) * 100);
}

/** Returns how many characters are too many; zero or less if none are. */
export function excessOf(answer: string, limit: number): number {
  return Array.from(answer).length - limit;
}

/**
 * Returns the name of the field with the answer to a question. It follows from the question, so that no answer goes to
 * another one if the account changes its questions while the referee writes.
 */
export function fieldOf(question: string): string {
  return `answer-${createHash("sha256").update(question).digest("base64url").slice(0, 16)}`;
}

/** Returns what was typed into the fields of a form, without empty ones. Browsers send line breaks as CR LF. */
export function typedIn(fields: Record<string, unknown>): Typed {
  const typed = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === "string" && name.startsWith("answer-") ? value.replaceAll(/\r\n?/g, "\n") : "";
    return { name, text: text.replaceAll(/[^\P{Cc}\n\t]/gu, "").trim() };
  });
  return typed.filter(({ text }) => text !== "");
}

/** Returns the answers to the questions, in their order, and what was typed into other fields. */
export function sorted(typed: Typed, questions: readonly string[]): { answers: Answer[]; others: Typed } {
  const fields = questions.map(fieldOf);
  const answerIn = (field?: string) => typed.find(({ name }) => name === field)?.text ?? "";
  return {
    answers: questions.map((question, n) => ({ question, answer: answerIn(fields[n]) })),
    others: typed.filter(({ name }) => !fields.includes(name)),
  };
}
