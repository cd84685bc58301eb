import { setTimeout } from "node:timers/promises";

/** Pause between two values that are made in the background, in milliseconds. Requests are served in between. */
const PAUSE_MS = 50;

const notMade: (() => unknown)[] = [];

/**
 * Makes a value when it is first needed, or in the background once the process serves. For values that take some
 * milliseconds each, and would delay the start of the process by most of a second together.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  const get = (): T => (made ??= { value: make() }).value;
  notMade.push(get);
  return get;
}

/** Makes all lazy values, one after the other. After an error, the rest are made when they are first needed. */
export async function makeLazyValues(): Promise<void> {
  for (const make of notMade.splice(0)) {
    await setTimeout(PAUSE_MS, undefined, { ref: false });
    await make();
  }
}
