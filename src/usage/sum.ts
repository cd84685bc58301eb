export const HOUR_MS = 3_600_000;

/** Numbers of requests that were admitted, and that got 429. */
export interface Sum {
  readonly used: number;
  readonly refused: number;
}

export function sumOf(counted: readonly Sum[]): Sum {
  const sum = (member: keyof Sum) => counted.reduce((total, each) => total + each[member], 0);
  return { used: sum("used"), refused: sum("refused") };
}
