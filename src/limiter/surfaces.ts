/** The specification's table Limits: requests that one key may make in an hour. The account's limit is twice the key's. */
export const PER_KEY = { create: 100, start: 10, reads: 300, list: 120, writes: 100, pack: 10, settings: 20 } as const;

export type Surface = keyof typeof PER_KEY;

export const SURFACES = Object.keys(PER_KEY) as Surface[];

/** Returns the two limits of a surface in one window. `scale` is LIMIT_SCALE. */
export function limitsOf(surface: Surface, scale: number): { account: number; key: number } {
  const key = PER_KEY[surface] * scale;
  return { account: 2 * key, key };
}

export function isSurface(name: string): name is Surface {
  return Object.hasOwn(PER_KEY, name);
}
