/** npm hands a signal on to us that the terminal has sent us already, so one Ctrl-C may come two or three times at once. */
const ONE_KEYPRESS_MS = 500;

export interface StopSignals {
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. */
  readonly stopping: AbortSignal;
  /** Aborts when one more comes after that: whoever is there does not want to wait. */
  readonly forced: AbortSignal;
}

/** From here on signals no longer end this process: they are for the caller to act on. */
export function listenForStop(): StopSignals {
  const stopping = new AbortController();
  const forced = new AbortController();
  let first = 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (!stopping.signal.aborted) {
        first = performance.now();
        stopping.abort();
      } else if (performance.now() - first > ONE_KEYPRESS_MS) {
        forced.abort();
      }
    });
  }
  return { stopping: stopping.signal, forced: forced.signal };
}
