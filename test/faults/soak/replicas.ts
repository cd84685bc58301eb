import { isAlive } from "../../../src/dev/servers-file.ts";
import type { LogLine } from "../../support/processes.ts";

/** Numbers the replicas that have served so far. Learns of them from their log lines. */
export class Replicas {
  readonly #names = new Map<number, string>();

  notice(lines: readonly LogLine[]): void {
    for (const { pid, msg } of lines) {
      if (msg === "serving" && !this.#names.has(pid)) this.#names.set(pid, `replica ${this.#names.size + 1}`);
    }
  }

  /** Returns the running replicas, pid to name, in the order of their start. */
  alive(): Map<number, string> {
    return new Map([...this.#names].filter(([pid]) => isAlive(pid)));
  }
}
