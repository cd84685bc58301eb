/** Whether the suite runs in its large form (`npm run test:exactness -- --full`), which takes half an hour. */
export const FULL = process.env.EXACTNESS_FULL === "1";

/** Returns a size of the suite: what the environment variable of this name says, else the small or the large form's. */
export function sizeOf(variable: string, { small, full }: { small: number; full: number }): number {
  return Number(process.env[variable] || (FULL ? full : small));
}
