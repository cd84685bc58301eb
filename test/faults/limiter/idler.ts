import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Wakes every 5 ms, and prints when it woke more than 2 ms late and by how much. */
const IDLE = `let due = performance.now() + 5;
(function wait() {
  setTimeout(() => {
    const late = performance.now() - due;
    if (late > 2) console.log(Date.now(), late);
    due = performance.now() + 5;
    wait();
  }, 5);
})();`;

/** A process with nothing to do. If the machine delays it, it delays every process, so the service is not to blame. */
export interface Idler {
  /** Returns its longest delay since that time (`Date.now()`), in milliseconds. */
  heldUpMs(since: number): number;
  stop(): Promise<void>;
}

export function startIdler(): Idler {
  const child = spawn(process.execPath, ["-e", IDLE], { stdio: ["ignore", "pipe", "inherit"] });
  const delays: { at: number; ms: number }[] = [];
  createInterface(child.stdout).on("line", (line) => {
    const [at = 0, ms = 0] = line.split(" ").map(Number);
    delays.push({ at, ms });
  });
  return {
    heldUpMs: (since) => Math.max(0, ...delays.filter(({ at }) => at >= since).map(({ ms }) => ms)),
    async stop() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
