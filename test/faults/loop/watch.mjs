// Preloaded into a replica. Measures how long its event loop is held, between the messages "watch" and "report".
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const RESOLUTION_MS = 1;

/** CPU time of the main thread so far, in milliseconds. */
function threadMs() {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

if (isMainThread && process.send !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let ticking;
  let stretchMs = 0;
  process.on("message", (message) => {
    if (message === "watch") {
      histogram.reset();
      histogram.enable();
      stretchMs = 0;
      let last = threadMs();
      const tick = () => {
        const now = threadMs();
        stretchMs = Math.max(stretchMs, now - last);
        last = now;
        ticking = setTimeout(tick, RESOLUTION_MS);
      };
      tick();
      process.send({ watching: true });
    } else if (message === "report") {
      // A turn that has just ended is seen by the next tick.
      setTimeout(() => {
        clearTimeout(ticking);
        histogram.disable();
        const delayMs = Math.max(0, histogram.max / 1e6 - RESOLUTION_MS);
        process.send({ delayMs, stretchMs });
      }, 2 * RESOLUTION_MS);
    }
  });
  process.channel.unref();
}
