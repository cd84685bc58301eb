import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Samples the resident memory of a process. */
export class MemoryWatch {
  readonly #kilobytes: number[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number, everyMs: number) {
    const sample = async () => {
      const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", `${pid}`]);
      this.#kilobytes.push(Number(stdout));
    };
    this.#timer = setInterval(() => void sample(), everyMs);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** Returns the median in a part of the time, given as fractions: 0 is the start, 1 the end. */
  medianMb(from: number, to: number): number {
    const { length } = this.#kilobytes;
    const part = this.#kilobytes.slice(Math.floor(from * length), Math.ceil(to * length)).toSorted((a, b) => a - b);
    return Math.round((part[Math.floor(part.length / 2)] ?? 0) / 1024);
  }
}
