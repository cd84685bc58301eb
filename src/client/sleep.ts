/** Maximum time that a timer can be set to, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits at least so many milliseconds: a timer alone may fire early. @throws the signal's reason as soon as it aborts. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  for (const end = performance.now() + ms; performance.now() < end;)
    await timer(Math.min(MAX_TIMER_MS, Math.ceil(end - performance.now())), signal);
}

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timeout);
      reject(signal?.reason);
    };
    const timeout = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
