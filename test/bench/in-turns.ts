import type { Options } from "./bench.ts";
import { ratioOf, type Ratio } from "./stats.ts";

/** Two names whose costs are compared. Rounds go on while one of the ratios is too noisy. */
export interface Comparison<T> {
  readonly measured: string;
  readonly reference: string;
  readonly cost: (measured: T) => number;
}

/** What was measured, by name; one value for each round. */
export type Rounds<T> = ReadonlyMap<string, readonly T[]>;

/** Noise is not fought for longer than this, once the fewest rounds are done, in milliseconds. */
const MAX_MS = 90_000;

/**
 * Measures everything in turn, round by round, each round beginning with another, so that what disturbs the machine
 * disturbs all alike.
 */
export async function inTurns<T>(
  { rounds, maxRounds, maxMs = MAX_MS }: Pick<Options, "rounds" | "maxRounds"> & { readonly maxMs?: number },
  measures: Readonly<Record<string, () => Promise<T>>>,
  compared: readonly Comparison<T>[],
): Promise<Rounds<T>> {
  const names = Object.keys(measures);
  const results = new Map<string, T[]>(names.map((name) => [name, []]));
  const giveUpAt = performance.now() + maxMs;
  const steady = () => compared.every((comparison) => !compare(results, comparison).noisy);
  for (let round = 0; round < maxRounds; round++) {
    if (round >= rounds && (steady() || performance.now() > giveUpAt)) break;
    const turn = round % names.length;
    for (const name of [...names.slice(turn), ...names.slice(0, turn)]) {
      const measured = await measures[name]?.();
      if (measured !== undefined) results.get(name)?.push(measured);
    }
  }
  return results;
}

/** Returns the ratio of the two costs, or the refusal to say one. */
export function compare<T>(results: Rounds<T>, { measured, reference, cost }: Comparison<T>): Ratio {
  return ratioOf((results.get(measured) ?? []).map(cost), (results.get(reference) ?? []).map(cost));
}
