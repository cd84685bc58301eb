import { isAlive } from "../../../src/dev/servers-file.ts";
import type { LogLine } from "../../support/processes.ts";

/** The replicas that have served so far, by what they logged. */
export class Replicas {
  readonly #names = new Map<number, string>();

  notice(lines: readonly LogLine[]): void {
    for (const { pid, msg } of lines) {
      if (msg === "serving" && !this.#names.has(pid)) this.#names.set(pid, `replica ${this.#names.size + 1}`);
    }
  }

  /** Those that run now: pid and name, in the order in which they began. */
  alive(): Map<number, string> {
    return new Map([...this.#names].filter(([pid]) => isAlive(pid)));
  }
}
