import cluster from "node:cluster";
import { readConfig } from "./config.ts";
import { createLog, describeFailure } from "./infra/log.ts";
import { superviseReplicas } from "./process/supervisor.ts";

/** Until it serves, a process has nothing to finish: it ends at once. */
let stop = (): Promise<void> => Promise.resolve();

/** Reads the settings. Then runs one replica, or supervises several that share the port. */
async function main(): Promise<void> {
  // Ctrl-C reaches every process of the group, and the supervisor signals its workers as well. A second `stop` is harmless.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => void stop().then(() => process.exit(0), fail));
  const config = readConfig(process.env);
  if (cluster.isPrimary) warnAboutLimits(config);
  const started =
    config.REPLICAS > 1 && cluster.isPrimary
      ? superviseReplicas(config, (early) => (stop = early))
      : (await import("./process/replica.ts")).startReplica(config);
  const { port, opsPort, stop: drain } = await started;
  stop = drain;
  process.send?.({ port, opsPort });
}

function warnAboutLimits({ LIMIT_WINDOW_SECONDS, LIMIT_SCALE }: ReturnType<typeof readConfig>): void {
  if (LIMIT_WINDOW_SECONDS === 3600 && LIMIT_SCALE === 1) return;
  const limits = `window ${LIMIT_WINDOW_SECONDS} s, scale ${LIMIT_SCALE}`;
  process.stderr.write(
    `Warning: the limits differ from the specification (${limits}). Use this for load tests only.\n`,
  );
}

/** Ends the process with one line in the log. */
function fail(error: unknown): void {
  const { failed } = error as { failed?: object }; // of a worker: the supervisor has logged it
  const reason = failed ?? describeFailure(error);
  if (failed === undefined && !cluster.isWorker) createLog("fatal").fatal({ error: reason }, "the process ends");
  if (process.send === undefined) process.exit(1);
  process.send({ failed: reason }, undefined, undefined, () => process.exit(1));
}

await main().catch(fail);
