import type { MochaResult } from "./run-mocha.ts";

/** What the tests said about a change. */
export interface Verdict {
  /** `error`: the change could not be judged, for example because a file could not be loaded. */
  readonly kind: "red" | "survived" | "equal" | "error";
  /** For `red`, the file and the test that noticed; for `error`, the reason. */
  readonly why: string;
  readonly seconds: number;
}

/** Judges a change by a run of the tests that should notice it. */
export function verdictOf({ outcome, timedOut, output, seconds }: MochaResult): Verdict {
  if (timedOut) return { kind: "red", why: "timed out", seconds };
  if (outcome === undefined) return { kind: "error", why: `cannot be loaded: ${output.trim()}`, seconds };
  const { ended, failed, passed, first } = outcome;
  if (failed > 0) return { kind: "red", why: `${first?.file}: ${first?.title}: ${first?.error}`, seconds };
  if (!ended) return { kind: "red", why: "the process of the tests ended in the middle of a test", seconds };
  if (passed === 0) return { kind: "error", why: "no test ran", seconds };
  return { kind: "survived", why: "", seconds };
}
