import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A tenth of what V8 would wait for; a collection then takes one or two milliseconds. */
const EVERY_BYTES = 2 * 1024 * 1024;

type Collect = (options: { type: "minor" }) => void;

/**
 * Keeps the memory flat while bytes stream through. Buffers lie outside of V8's heap, and it lets some 30 MiB of dead ones
 * gather before it looks; whoever passes bytes on says so here, and has the young ones collected in time.
 */
export class Relief {
  readonly #collect: Collect;
  #passed = 0;

  constructor(collect: Collect = exposedCollector()) {
    this.#collect = collect;
  }

  passed(bytes: number): void {
    this.#passed += bytes;
    if (this.#passed < EVERY_BYTES) return;
    this.#passed = 0;
    this.#collect({ type: "minor" });
  }
}

/** V8's own, without a flag on the command line. */
function exposedCollector(): Collect {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as Collect;
}
