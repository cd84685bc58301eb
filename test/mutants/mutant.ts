/** A protection, taken out: one change to one file, and the tests that must notice it. */
export interface Mutant {
  /** Path from the top of the project. */
  readonly file: string;
  /** A piece of the file's text that occurs in it exactly once. */
  readonly before: string;
  /** What stands there instead. The file must still compile. */
  readonly after: string;
  /** Files or folders of tests. At least one test in them must turn red. */
  readonly red: readonly string[];
  /** Only for a change that makes no difference to any client: the reason. It is not run. */
  readonly equal?: string;
}

/**
 * Returns a function that makes the mutants of one file.
 * @param usual the tests that must notice a mutant, unless it names others.
 */
export function changesOf(file: string, usual: readonly string[] = []) {
  return (before: string, after: string, red = usual): Mutant => ({ file, before, after, red });
}
