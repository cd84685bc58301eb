import { setTimeout } from "node:timers/promises";

/** Pause between two values that are made ahead, in milliseconds. Requests go between. */
const PAUSE_MS = 50;

const notMade: (() => unknown)[] = [];

/**
 * Makes a value when it is first asked for, or in the background once the process serves. For what takes some
 * milliseconds each and would delay the start of the process by most of a second together.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  const get = (): T => (made ??= { value: make() }).value;
  notMade.push(get);
  return get;
}

let making: Promise<void> = Promise.resolve();

/**
 * Makes all lazy values, one after the other, after those of earlier calls.
 * @throws the first error. The values after it are then made when they are first asked for.
 */
export function makeAhead(): Promise<void> {
  return (making = making.catch(() => undefined).then(makeAll));
}

async function makeAll(): Promise<void> {
  for (const make of notMade.splice(0)) {
    await setTimeout(PAUSE_MS, undefined, { ref: false });
    await make();
  }
}
