/**
 * Signals within this time of the first one count as the same Ctrl-C. The terminal signals every process, and npm then
 * forwards the signal to us, so one Ctrl-C can arrive two or three times.
 */
const ONE_KEYPRESS_MS = 500;

export interface StopSignals {
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. */
  readonly stopping: AbortSignal;
  /** Aborts at another signal more than 500 ms later: the user does not want to wait. */
  readonly forced: AbortSignal;
}

/** Keeps SIGINT, SIGTERM and SIGHUP from ending this process. */
export function listenForStop(): StopSignals {
  const stopping = new AbortController();
  const forced = new AbortController();
  let firstAt = 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      if (!stopping.signal.aborted) {
        firstAt = performance.now();
        stopping.abort();
      } else if (performance.now() - firstAt > ONE_KEYPRESS_MS) forced.abort();
    });
  return { stopping: stopping.signal, forced: forced.signal };
}
