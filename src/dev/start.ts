/** `npm start`: finds or starts Redis and MongoDB, then runs the service until a signal stops it. */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Config, ConfigError, readConfig } from "../config.ts";
import { runChild } from "./child.ts";
import { dataDirOf, prepareDataDir, toolsIn } from "./data-dir.ts";
import { addressOf, greet } from "./demo.ts";
import { imageFlags } from "./image-flags.ts";
import { holderOf, tryLock } from "./lock.ts";
import { SetupError, explain, say } from "./output.ts";
import { freePort } from "./server-process.ts";
import { ensureServers } from "./servers.ts";
import { type StopSignals, listenForStop } from "./stop-signals.ts";

async function start(signals: StopSignals): Promise<void> {
  const config = readConfig(process.env); // reports a wrong setting before anything starts
  const shownDataDir = dataDirOf(process.env);
  const dataDir = resolve(shownDataDir);
  prepareDataDir(dataDir);
  // A second `npm start` may not share the servers of the first: they stop when the first one stops.
  if ((await tryLock(dataDir)) === undefined) {
    const holder = await holderOf(dataDir);
    const running = `npm start is already running on ${shownDataDir}${holder ? ` (process ${holder})` : ""}.`;
    throw new SetupError(`${running} Stop it, or set another DATA_DIR, PORT and OPS_PORT.`);
  }
  for (const setting of ["PORT", "OPS_PORT"] as const) await refuseTaken(setting, config[setting], config.HOST);
  const servers = await ensureServers({ dataDir, tools: toolsIn(dataDir), env: process.env, signal: signals.stopping });
  try {
    const settings = { REDIS_URL: servers.redisUrl, MONGODB_URL: servers.mongodbUrl, ...outboxOf(config, dataDir) };
    await serve({ ...process.env, ...settings }, signals);
  } finally {
    await servers.stop();
  }
}

/** Without a mail server, reminders become files in DATA_DIR. Their links need a port that is known beforehand. */
function outboxOf({ SMTP_URL, PORT, HOST, PUBLIC_URL, MAIL_FROM }: Config, dataDir: string): NodeJS.ProcessEnv {
  if (SMTP_URL !== null || PORT === 0) return {};
  return {
    SMTP_URL: pathToFileURL(join(dataDir, "outbox")).href,
    MAIL_FROM: MAIL_FROM || "onboarding@localhost",
    PUBLIC_URL: PUBLIC_URL ?? addressOf(HOST, PORT),
    MAIL_PER_ADDRESS_PER_DAY: "1000", // whoever tries it out writes to the same address again and again
  };
}

/** @throws {SetupError} if another process listens on the port. */
async function refuseTaken(setting: string, port: number, host: string): Promise<void> {
  await freePort(port, host).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new SetupError(`Port ${port} is taken by another process. Stop it, or set ${setting} to a free port.`);
  });
}

/** Runs the service until a signal stops it. @throws {SetupError} if it exits by itself. */
async function serve(env: NodeJS.ProcessEnv, signals: StopSignals): Promise<void> {
  const flags = [...imageFlags(), "--import", import.meta.resolve("./follow-parent.mjs")];
  const main = runChild("src/main.ts", ["--no-wait"], { ...signals, env, stopWith: "SIGTERM", flags });
  const ready = (await main.message) as { failed: Error } | { port: number; opsPort: number } | undefined;
  if (ready !== undefined && "failed" in ready) throw new SetupError(ready.failed.message);
  try {
    if (ready !== undefined && !signals.stopping.aborted) await greet(readConfig(env), ready);
  } catch (error) {
    say(`The demo account could not be created: ${explain(error)}`);
  }
  const code = await main.exited;
  if (signals.stopping.aborted) return;
  // If the service could not start, it has already printed the reason.
  throw new SetupError(ready === undefined ? "" : `The service stopped unexpectedly (exit code ${code ?? "none"}).`);
}

const signals = listenForStop();
let code = 0;
try {
  await start(signals);
} catch (error) {
  if (!signals.stopping.aborted) {
    code = 1;
    const text = error instanceof ConfigError ? error.message : explain(error);
    if (text !== "") say(text);
  }
}
process.exit(code);
