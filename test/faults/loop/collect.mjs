// Preloaded into a replica. Collects all garbage on the message "collect": V8 then sets the limit of its heap anew.
import { isMainThread } from "node:worker_threads";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

if (isMainThread && process.send !== undefined) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  process.on("message", (message) => {
    if (message !== "collect") return;
    collect();
    process.send({ collected: true });
  });
  process.channel.unref();
}
