import { fstatSync, write, writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { DestinationStream, Logger } from "pino";

/** POSIX: a pipe takes a write of up to 4096 bytes whole (PIPE_BUF), so the lines of processes that share one never mix. */
const PIPE_BATCH_BYTES = 4_096;
/** A file takes any write whole. Each takes a turn of the thread pool, so they are larger. */
const FILE_BATCH_BYTES = 65_536;
/** A line waits at most this long for others, in milliseconds. */
const FLUSH_MS = 100;
/** After this many milliseconds a write is tried again that failed, for example because a pipe or a disk is full. */
const RETRY_MS = 20;
/** What waits for a slow reader. Further lines are dropped, so that memory stays bounded. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** How long a process that ends waits for a reader that has stopped reading, in milliseconds. */
const LAST_WAIT_MS = 1_000;

/**
 * Writes log lines to a descriptor in batches, without blocking the event loop. What waits is written when the process
 * exits, also after an uncaught exception. Only a process that is killed loses its last batch. This is not pino's own
 * destination: at exit, that one waits forever for a reader that is gone.
 */
export class LogOutput implements DestinationStream {
  readonly #fd: number;
  /** Node makes pipes and sockets non-blocking, so a write returns at once. A write to a file goes to the thread pool. */
  readonly #returnsAtOnce: boolean;
  readonly #batchBytes: number;
  readonly #onDropped: (lines: number) => void;
  /** Batches that are complete, oldest first. While `#writing`, the first of them is being written. */
  readonly #batches: Buffer[] = [];
  #writing = false;
  #retry: NodeJS.Timeout | undefined;
  #open = "";
  #openBytes = 0;
  #waitingBytes = 0;
  #dropped = 0;
  #gone = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #flushes: (() => void)[] = [];

  /** @param onDropped is told how many lines were dropped, once everything that waited has been written. */
  constructor(fd: number, onDropped: (lines: number) => void) {
    this.#fd = fd;
    const kind = fstatSync(fd);
    this.#returnsAtOnce = kind.isFIFO() || kind.isSocket();
    this.#batchBytes = kind.isFile() ? FILE_BATCH_BYTES : PIPE_BATCH_BYTES;
    this.#onDropped = onDropped;
    process.once("exit", () => this.#writeLast());
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#gone || this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      this.#dropped++;
      return;
    }
    if (this.#openBytes + bytes > this.#batchBytes) this.#close();
    this.#open += line;
    this.#openBytes += bytes;
    this.#waitingBytes += bytes;
    if (this.#batches.length > 0) this.#writeNext();
    this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  /** @param done is called once all lines are written, or the reader is gone. */
  flush(done?: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (done !== undefined) this.#flushes.push(done);
    this.#close();
    this.#writeNext();
  }

  #close(): void {
    if (this.#open !== "") this.#batches.push(Buffer.from(this.#open));
    this.#open = "";
    this.#openBytes = 0;
  }

  #writeNext(): void {
    if (this.#writing || this.#retry !== undefined) return;
    const [batch] = this.#batches;
    if (batch === undefined) return this.#settle();
    if (this.#returnsAtOnce) {
      let written: number;
      try {
        written = writeSync(this.#fd, batch);
      } catch (error) {
        return this.#failed(error as NodeJS.ErrnoException);
      }
      this.#advance(written);
      return this.#writeNext();
    }
    this.#writing = true;
    write(this.#fd, batch, (error, written) => {
      this.#writing = false;
      if (error !== null) return this.#failed(error);
      this.#advance(written);
      this.#writeNext();
    });
  }

  #failed({ code }: NodeJS.ErrnoException): void {
    if (code === "EPIPE") {
      this.#gone = true;
      this.#batches.length = 0;
      this.#settle();
    } else {
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#writeNext();
      }, RETRY_MS).unref();
    }
  }

  #advance(bytes: number): void {
    const [batch] = this.#batches;
    if (batch === undefined) return;
    this.#waitingBytes -= bytes;
    if (bytes === batch.length) this.#batches.shift();
    else this.#batches[0] = batch.subarray(bytes);
  }

  #settle(): void {
    if (this.#reportDropped() && this.#flushes.length > 0) return this.flush();
    for (const done of this.#flushes.splice(0)) done();
  }

  /** Returns false if there is nothing to report, or nobody to report to. */
  #reportDropped(): boolean {
    const lines = this.#dropped;
    this.#dropped = 0;
    if (lines === 0 || this.#gone) return false;
    this.#onDropped(lines);
    return true;
  }

  /** The process exits: no callback runs any more. */
  #writeLast(): void {
    const giveUpAt = performance.now() + LAST_WAIT_MS;
    if (this.#writing) this.#batches.shift(); // Node finishes a write to a file that has begun
    this.#writeSync(giveUpAt);
    if (this.#reportDropped()) this.#writeSync(giveUpAt);
  }

  #writeSync(giveUpAt: number): void {
    this.#close();
    for (let [batch] = this.#batches; batch !== undefined; [batch] = this.#batches) {
      try {
        this.#advance(writeSync(this.#fd, batch));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EPIPE" || performance.now() > giveUpAt) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS); // sleeps
      }
    }
  }
}

/** Waits until the lines that were logged so far are written; at most LAST_WAIT_MS. */
export async function flushed(log: Logger): Promise<void> {
  const abandoned = new AbortController();
  const written = new Promise<void>((resolve) => log.flush(() => resolve()));
  const late = wait(LAST_WAIT_MS, undefined, { signal: abandoned.signal }).catch(() => undefined);
  await Promise.race([written, late]);
  abandoned.abort();
}
