import { setTimeout } from "node:timers/promises";

/**
 * Returns a function that reads the value of a key with `run`, or with another caller's `run` for the same key. At most one
 * read of a key begins in `everyMs`; callers in between share the next. None gets a read that began before its call.
 */
export function pacedReads<T>(everyMs: number): (key: string, run: () => Promise<T>) => Promise<T> {
  /** For keys read in the last `everyMs`: resolves when the next read may begin. */
  const pauses = new Map<string, Promise<void>>();
  /** The reads that have not begun. */
  const next = new Map<string, Promise<T>>();

  function begin(key: string, run: () => Promise<T>): Promise<T> {
    const pause = setTimeout(everyMs).then(() => {
      if (!next.has(key)) pauses.delete(key);
    });
    pauses.set(key, pause);
    return run();
  }

  return (key, run) => {
    const pause = pauses.get(key);
    if (pause === undefined) return begin(key, run);
    const read =
      next.get(key) ??
      pause.then(() => {
        next.delete(key);
        return begin(key, run);
      });
    next.set(key, read);
    return read;
  };
}
