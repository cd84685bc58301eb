/**
 * Every instrumented file imports this module. The query of the import names a folder. When the process ends, the module
 * writes the ids of the candidates that the process reached to a file in that folder.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";

const folder = new URL(import.meta.url).searchParams.get("folder");

function write() {
  const ids = Object.keys(globalThis.__stryker__?.mutantCoverage?.static ?? {});
  if (folder !== null && ids.length > 0) writeFileSync(join(folder, `${process.pid}-${threadId}`), ids.join("\n"));
}

process.on("exit", write);
// The log writes its last lines while the process exits. So this must stay the last listener.
process.on("newListener", (event, listener) => {
  if (event !== "exit" || listener === write) return;
  queueMicrotask(() => {
    process.off("exit", write);
    process.on("exit", write);
  });
});
// If process.exit() is called in the turn in which a listener was added, this is not the last one yet. Node calls
// reallyExit after all listeners.
const reallyExit = process.reallyExit;
process.reallyExit = (code) => {
  write();
  reallyExit.call(process, code);
};
