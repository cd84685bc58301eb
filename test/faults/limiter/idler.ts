import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Wakes every 5 ms, and says when it woke too late and how late. */
const IDLE = `let due = performance.now() + 5;
(function wait() {
  setTimeout(() => {
    const late = performance.now() - due;
    if (late > 2) console.log(Date.now(), late);
    due = performance.now() + 5;
    wait();
  }, 5);
})();`;

/** A process with nothing to do: what keeps it waiting keeps every process waiting, and is no fault of the service. */
export interface Idler {
  /** The longest it was kept from running since then (`Date.now()`), in milliseconds. */
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
