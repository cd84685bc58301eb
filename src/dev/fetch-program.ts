import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Outcome, Program } from "./download.ts";
import { say } from "./output.ts";
import { onPath } from "./programs.ts";

/** Time until a download host that was out of reach is tried again. */
const UNREACHABLE_FOR_MS = 24 * 3600 * 1000;
const DOWNLOAD = fileURLToPath(new URL("download.ts", import.meta.url));
/** Not import.meta.resolve: mocha runs this file as a CommonJS module, which has none. */
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/** Returns the path of the program that `fetchProgram` downloaded earlier, if any. */
export function downloaded(program: Program, tools: string): string | undefined {
  const pathFile = join(tools, program, "path");
  if (!existsSync(pathFile)) return undefined;
  const path = readFileSync(pathFile, "utf8");
  return existsSync(path) ? path : undefined;
}

/**
 * Downloads a server program into `tools`. A download host that sends nothing within five seconds counts as out of reach and
 * is not tried again for a day.
 * @returns the program's path, or undefined if the download failed. The reason is printed on standard error.
 * @throws the signal's reason if it aborts. The download is then killed.
 */
export async function fetchProgram(program: Program, tools: string, signal: AbortSignal): Promise<string | undefined> {
  if (program === "redis" && onPath("make") === undefined) return undefined; // Redis is downloaded as source
  const dir = join(tools, program);
  const unreachable = join(tools, `${program}-unreachable`);
  if (existsSync(unreachable) && Date.now() - statSync(unreachable).mtimeMs < UNREACHABLE_FOR_MS) return undefined;
  mkdirSync(dir, { recursive: true });
  say(`Downloading ${program} …`);
  const outcome = await runDownload(program, dir, signal);
  signal.throwIfAborted();
  if ("path" in outcome) writeFileSync(join(dir, "path"), outcome.path);
  else if (outcome.unreachable) {
    writeFileSync(unreachable, "");
    say(`  the download host is out of reach (${outcome.failed}); the next attempt is in a day`);
  } else say(`  failed: ${outcome.failed}`);
  return "path" in outcome ? outcome.path : undefined;
}

/** Runs the download in its own process group, so that a compiler that it started is killed with it. */
async function runDownload(program: Program, dir: string, signal: AbortSignal): Promise<Outcome> {
  const child: ChildProcess = spawn(process.execPath, ["--import", TSX, DOWNLOAD, program, dir], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    detached: true,
  });
  const kill = (): unknown => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  signal.addEventListener("abort", kill);
  let outcome: Outcome = { failed: "the download process ended early", unreachable: false };
  child.on("message", (message: string | Outcome) => {
    if (typeof message === "string") say(message);
    else outcome = message;
  });
  await once(child, "close");
  signal.removeEventListener("abort", kill);
  return outcome;
}
