import { type DestinationStream, pino } from "pino";

/** A pipe takes a write of this size whole (POSIX, PIPE_BUF), so the lines of processes that share one never mix. */
const BATCH_BYTES = 4_096;
/** Time that a line waits for others, in milliseconds. */
const FLUSH_MS = 100;
/** Maximum size of the lines that wait for a slow reader. Further lines are dropped. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Maximum time that the process waits for its reader when it exits: while nothing is read, and in all. In milliseconds. */
const MAX_STALL_MS = 1_000;
const MAX_EXIT_MS = 10_000;
/** Pause between attempts to write while the process exits, in milliseconds. */
const RETRY_MS = 5;

/**
 * Writes log lines to standard output, in batches. Never waits for its reader, except when the process exits: then it
 * writes everything. Only a process that is killed loses its last batch.
 * @param onDropped is called with the number of lines that were dropped, once the reader has caught up.
 */
export function logOutput(onDropped: (lines: number) => void): DestinationStream {
  let isFull = false;
  let dropped = 0;
  const output = pino.destination({
    dest: process.stdout.fd, // to open process.stdout makes a pipe or socket non-blocking: a full one refuses (EAGAIN)
    sync: true, // a write that another thread has begun could be lost or overtaken at exit
    minLength: BATCH_BYTES - 1,
    maxWrite: BATCH_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_MS,
    retryEAGAIN: () => false, // to wait would block the event loop; the next line or flush tries again
  });
  output.on("error", ({ code }: NodeJS.ErrnoException) => (isFull = code === "EAGAIN"));
  let writtenAt = 0;
  output.on("write", () => (writtenAt = performance.now()));
  output.on("drop", () => dropped++);
  output.on("drain", reportDropped);

  function reportDropped(): void {
    const lines = dropped;
    if (lines === 0) return;
    dropped = 0;
    onDropped(lines);
    if (dropped > 0) dropped = lines; // the report found no room either: it comes later
  }

  // Not flushSync: it would wait forever for a reader that is gone.
  process.once("exit", () => {
    const began = performance.now();
    const giveUpAt = () => Math.min(Math.max(began, writtenAt) + MAX_STALL_MS, began + MAX_EXIT_MS);
    function write(first: () => void): void {
      isFull = false;
      first();
      while (isFull && performance.now() < giveUpAt()) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS); // sleeps
        isFull = false;
        output.flush();
      }
    }
    write(() => output.flush()); // makes room for the report
    reportDropped();
    write(() => output.end());
  });
  return output;
}
