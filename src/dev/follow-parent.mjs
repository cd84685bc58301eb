/**
 * `npm start` imports this before the service. The service then drains and exits when its parent process is gone, even if
 * the parent was killed. Cluster workers need no such help: they exit with their supervisor.
 */
import cluster from "node:cluster";

if (cluster.isPrimary) {
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref(); // so that the open channel alone does not keep the process running
}
