import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The memory of one process over time. */
export interface Memory {
  readonly name: string;
  readonly samples: { at: number; megabytes: number }[];
}

/** Samples the resident memory of processes. */
export class MemoryWatch {
  readonly processes = new Map<number, Memory>();
  readonly #timer: NodeJS.Timeout;

  /** @param named returns the processes to sample: pid to name. It is called for each sample. */
  constructor(named: () => ReadonlyMap<number, string>, everyMs: number) {
    void this.#sample(named());
    this.#timer = setInterval(() => void this.#sample(named()), everyMs);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async #sample(named: ReadonlyMap<number, string>): Promise<void> {
    // ps fails if one of the processes has exited, but still prints the others.
    const { stdout } = await promisify(execFile)("ps", ["-o", "pid=,rss=", "-p", [...named.keys()].join(",")]).catch(
      (error: { stdout: string }) => error,
    );
    for (const line of stdout.trim().split("\n")) {
      const [pid = 0, kilobytes = 0] = line.trim().split(/\s+/).map(Number);
      const name = named.get(pid);
      if (name === undefined) continue;
      const memory = this.processes.get(pid) ?? { name, samples: [] };
      this.processes.set(pid, memory);
      memory.samples.push({ at: Date.now(), megabytes: Math.round(kilobytes / 1024) });
    }
  }
}

/** Returns the median memory of a process in a part of its lifetime, given as fractions: 0 is its start, 1 its end. */
export function medianOf({ samples }: Memory, from: number, to: number): number {
  const part = samples
    .slice(Math.floor(from * samples.length), Math.ceil(to * samples.length))
    .map(({ megabytes }) => megabytes);
  return part.toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
}
