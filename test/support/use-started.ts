/** For each suite, the stop functions of what still runs, in the order of starting. */
const stopsBySuite = new WeakMap<Mocha.Suite, (() => unknown)[]>();

/**
 * Starts something before the tests of the `describe` that calls this, and stops it after them. Whatever was started last is
 * stopped first, so a service may use a server that an earlier call started. If `start` fails, `stop` is not called.
 * @param name used in the error if the result is read too early.
 * @returns an object that forwards to what was started. Hooks and tests can read it; the body of a `describe` cannot.
 */
export function useStarted<T extends object>(name: string, start: () => Promise<T>, stop: (started: T) => unknown): T {
  let current: T | undefined;
  before(async function () {
    const started = await start();
    current = started;
    stopsOf(this).push(() => stop(started));
  });
  after(async function () {
    await stopsOf(this).pop()?.();
  });
  return forwardTo(name, () => current);
}

function stopsOf({ test }: Mocha.Context): (() => unknown)[] {
  const suite = test?.parent;
  if (suite === undefined) throw new Error("This hook belongs to no suite.");
  const stops = stopsBySuite.get(suite) ?? [];
  stopsBySuite.set(suite, stops);
  return stops;
}

/**
 * Returns an object that reads and writes the members of the current target.
 * @param current returns the target, or undefined while there is none.
 */
export function forwardTo<T extends object>(name: string, current: () => T | undefined): T {
  const target = (): T => {
    const found = current();
    if (found === undefined)
      throw new Error(`${name} is read too early. Read it in a hook or a test, not in the body of a describe.`);
    return found;
  };
  return new Proxy({} as T, {
    get(_, member) {
      const value: unknown = Reflect.get(target(), member);
      return typeof value === "function" ? (value.bind(target()) as unknown) : value;
    },
    set: (_, member, value) => Reflect.set(target(), member, value),
    has: (_, member) => Reflect.has(target(), member),
  });
}
