import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DownloadMessage, Program } from "./download.ts";
import { downloadProgress, say } from "./output.ts";
import { onPath } from "./programs.ts";

const FIRST_BYTES_MS = 2000;
const REMEMBERED_MS = 24 * 3600 * 1000;
const DOWNLOAD = fileURLToPath(new URL("download.ts", import.meta.url));
/** What comes between the last byte and the program. */
const AFTERWARDS = { mongod: "Unpacking mongod …", redis: "Compiling redis-server, for a minute or two …" };

/** The program that an earlier `fetchProgram` got, if any. */
export function downloaded(program: Program, tools: string): string | undefined {
  const note = join(tools, program, "path");
  if (!existsSync(note)) return undefined;
  const path = readFileSync(note, "utf8");
  return existsSync(path) ? path : undefined;
}

/**
 * Downloads a server program, keeping it in `tools`. A download host that sends nothing within two seconds is out of
 * reach; that is remembered for a day.
 * @returns its path, or undefined when it cannot be had; why is said on standard error.
 * @throws the signal's reason when that aborts; nothing goes on then.
 */
export async function fetchProgram(program: Program, tools: string, signal: AbortSignal): Promise<string | undefined> {
  if (program === "redis" && onPath("make") === undefined) return undefined; // it comes as source
  const dir = join(tools, program);
  const unreachable = join(tools, `${program}-unreachable`);
  if (existsSync(unreachable) && Date.now() - statSync(unreachable).mtimeMs < REMEMBERED_MS) return undefined;
  mkdirSync(dir, { recursive: true });
  say(`Downloading ${program} …`);
  const outcome = await follow(program, dir, signal);
  signal.throwIfAborted();
  if ("path" in outcome) writeFileSync(join(dir, "path"), outcome.path);
  else if (!outcome.reached) writeFileSync(unreachable, "");
  if ("failed" in outcome)
    say(outcome.reached ? `  failed: ${outcome.failed}` : "  its download host is out of reach; asked again in a day");
  return "path" in outcome ? outcome.path : undefined;
}

type Outcome = { path: string } | { failed: string; reached: boolean };

/**
 * The download runs in a process of its own: the libraries can neither be stopped nor kept from writing to our output.
 * It leads a group, so that a compiler it has started ends with it.
 */
async function follow(program: Program, dir: string, signal: AbortSignal): Promise<Outcome> {
  const child: ChildProcess = spawn(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), DOWNLOAD, program, dir],
    {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      detached: true,
    },
  );
  const end = (): unknown => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  signal.addEventListener("abort", end);
  const report = downloadProgress(program);
  let outcome: Outcome = { failed: "it broke off", reached: false };
  let firstBytes: NodeJS.Timeout | undefined;
  let complete = false;
  child.on("message", (message: DownloadMessage) => {
    if (message.type === "asking") {
      outcome = { failed: `nothing came within ${FIRST_BYTES_MS / 1000} s`, reached: false };
      firstBytes = setTimeout(end, FIRST_BYTES_MS);
    } else if (message.type === "done") {
      outcome = { path: message.path };
    } else if (message.type === "failed") {
      outcome = { failed: message.reason, reached: "reached" in outcome && outcome.reached };
    } else {
      clearTimeout(firstBytes);
      outcome = { failed: "it broke off", reached: true };
      if (complete) return; // a checksum comes after the program
      complete = message.received === message.expected;
      report(message.received, message.expected);
      if (complete) say(`  ${AFTERWARDS[program]}`);
    }
  });
  await once(child, "close");
  clearTimeout(firstBytes);
  signal.removeEventListener("abort", end);
  return outcome;
}
