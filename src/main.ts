import cluster from "node:cluster";
import { readConfig } from "./config.ts";
import { superviseReplicas } from "./process/supervisor.ts";

/** Reads the settings. Then runs one replica, or supervises several that share the port. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const supervising = config.REPLICAS > 1 && cluster.isPrimary;
  if (cluster.isPrimary) warnAboutLimits(config);
  const start = supervising ? superviseReplicas : (await import("./process/replica.ts")).startReplica;
  const { port, opsPort, stop } = await start(config);
  // Ctrl-C reaches every process of the group, and the supervisor signals its workers as well. A second `stop` is harmless.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => void stop().then(() => process.exit(0), fail));
  process.send?.({ port, opsPort });
}

function warnAboutLimits({ LIMIT_WINDOW_SECONDS, LIMIT_SCALE }: ReturnType<typeof readConfig>): void {
  if (LIMIT_WINDOW_SECONDS === 3600 && LIMIT_SCALE === 1) return;
  const limits = `window ${LIMIT_WINDOW_SECONDS} s, scale ${LIMIT_SCALE}`;
  process.stderr.write(
    `Warning: the limits differ from the specification (${limits}). Use this for load tests only.\n`,
  );
}

function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

await main().catch(fail);
