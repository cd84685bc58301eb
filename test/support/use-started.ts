/** What the `before` hooks of each suite have started and its `after` hooks have not stopped yet, in the order of starting. */
const running = new WeakMap<Mocha.Suite, (() => unknown)[]>();

/**
 * Starts something before the tests of the `describe` that calls this, and stops it after them. What is started last is
 * stopped first, so a service may use a server that an earlier call started. If the start fails, nothing is stopped.
 * @param name names it in the error of a caller that reads it too early.
 * @returns an object that forwards to what was started. It can be read from the first hook or test on.
 */
export function useStarted<T extends object>(name: string, start: () => Promise<T>, stop: (started: T) => unknown): T {
  let current: T | undefined;
  before(async function () {
    const started = await start();
    current = started;
    runningIn(this).push(() => stop(started));
  });
  after(async function () {
    await runningIn(this).pop()?.();
  });
  return forwardTo(name, () => current);
}

function runningIn({ test }: Mocha.Context): (() => unknown)[] {
  const suite = test?.parent;
  if (suite === undefined) throw new Error("This hook belongs to no suite.");
  const stops = running.get(suite) ?? [];
  running.set(suite, stops);
  return stops;
}

/**
 * An object that reads and writes the members of the current target.
 * @param current returns the target, or undefined as long as there is none.
 */
export function forwardTo<T extends object>(name: string, current: () => T | undefined): T {
  const target = (): T => {
    const found = current();
    if (found === undefined)
      throw new Error(`${name} is read too early: it is there in hooks and tests only, not in the body of a describe.`);
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
