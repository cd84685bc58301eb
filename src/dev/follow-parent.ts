/**
 * Imported before the service by `npm start`: it drains and ends when the process that started it is gone, even killed.
 * A cluster's workers follow its supervisor of themselves.
 */
import cluster from "node:cluster";

if (cluster.isPrimary) {
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref(); // this alone is no reason to go on
}
