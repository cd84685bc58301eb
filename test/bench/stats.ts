/** Median and quartiles of a measurement that was repeated. */
export interface Spread {
  readonly median: number;
  readonly q1: number;
  readonly q3: number;
  readonly rounds: number;
}

/**
 * The uncertainty of a median ratio, as a share of it, above which the ratio is not printed. It falls with the number of
 * rounds, so more of them can make up for noise.
 */
export const UNCERTAINTY_BOUND = 0.08;

/**
 * The distance of the quartiles of the rounds' ratios, as a share of their median, above which no number of rounds makes a
 * ratio: so much disturbance does not fall on both contenders alike.
 */
export const SPREAD_BOUND = 0.4;

/** Fewer rounds than this say nothing about their spread. */
export const MIN_ROUNDS = 5;

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: quantileOf(sorted, 0.5),
    q1: quantileOf(sorted, 0.25),
    q3: quantileOf(sorted, 0.75),
    rounds: sorted.length,
  };
}

/** Interpolates between the two nearest values. @param sorted in ascending order. */
export function quantileOf(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** How far apart the quartiles are, as a share of the median. */
export function relativeSpread({ median, q1, q3 }: Spread): number {
  return (q3 - q1) / median;
}

/**
 * How far the median may be off, as a share of it: half of the notch of a box plot (McGill, Tukey and Larsen, 1978), about
 * a 95 % confidence interval.
 */
export function uncertainty(spread: Spread): number {
  return (1.57 * relativeSpread(spread)) / Math.sqrt(spread.rounds);
}

/** A ratio of two contenders, or the refusal to say one. */
export interface Ratio extends Spread {
  /** Then the median is not to be printed. */
  readonly noisy: boolean;
}

/**
 * Compares two contenders round by round, so that what disturbs a whole round cancels out. The ratio is too noisy, and not
 * to be printed, beyond UNCERTAINTY_BOUND or SPREAD_BOUND, or with fewer rounds than MIN_ROUNDS.
 */
export function ratioOf(measured: readonly number[], reference: readonly number[]): Ratio {
  const ratios = measured.map((value, round) => value / (reference[round] ?? NaN));
  const spread = spreadOf(ratios);
  return { ...spread, noisy: !ratios.every(Number.isFinite) || !isSteady(spread) };
}

/** Returns whether enough rounds agree. */
export function isSteady(spread: Spread): boolean {
  return (
    spread.rounds >= MIN_ROUNDS && relativeSpread(spread) <= SPREAD_BOUND && uncertainty(spread) <= UNCERTAINTY_BOUND
  );
}
