import type { Bench } from "./bench.ts";
import type { MochaResult } from "./run-mocha.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

export interface JudgedTwice {
  readonly first: MochaResult;
  /** The file whose test failed first in the first run. Undefined if none failed, or if the failure names none of the files. */
  readonly culprit: string | undefined;
  /** Red only if the culprit was red twice. */
  readonly verdict: Verdict;
}

/**
 * Runs tests on changed code. If a test fails, its file runs again, alone: one failure may come from a slow machine, or from
 * another file that ran before it in the same process.
 * @param files files of tests, or folders of them.
 */
export async function judgedTwice(
  bench: Pick<Bench, "run">,
  changes: ReadonlyMap<string, string>,
  { files, limitMs }: { readonly files: readonly string[]; readonly limitMs: number },
): Promise<JudgedTwice> {
  const options = { bail: true, limitMs, env: {} };
  const first = await bench.run(changes, { ...options, files });
  const failed = first.outcome?.first?.file;
  const isOneOf = (file: string) => files.some((path) => file === path || file.startsWith(`${path}/`));
  if (first.timedOut || failed === undefined || !isOneOf(failed))
    return { first, culprit: undefined, verdict: verdictOf(first) };
  const second = verdictOf(await bench.run(changes, { ...options, files: [failed] }));
  return { first, culprit: failed, verdict: { ...second, seconds: first.seconds + second.seconds } };
}
