import { createHash } from "node:crypto";
import { once } from "node:events";
import { realpathSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { createPrivateFolder } from "./data-dir.ts";

const POLL_MS = 100;
const HOLDER_TIMEOUT_MS = 1_000;

export type Release = () => void;

/**
 * Tries to take the lock of a folder, and creates the folder if it is missing. The lock is a listening socket named after
 * the folder. The kernel releases it however the process ends, so it is never stale. A file with a process id could be
 * stale after a crash or a reboot.
 * @returns undefined if another process holds the lock.
 */
export async function tryLock(folder: string): Promise<Release | undefined> {
  const address = addressOf(folder);
  for (;;) {
    const server = createServer((socket) => socket.on("error", () => socket.destroy()).end(`${process.pid}`));
    try {
      await once(server.listen(address), "listening");
      server.unref();
      return () => server.close();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
    // Elsewhere than on Linux a socket is a file, which outlives its process.
    if (process.platform === "linux" || (await holderOf(folder)) !== undefined) return undefined;
    rmSync(address, { force: true });
  }
}

/** Takes the lock of a folder. Waits as long as another process holds it, and then calls `onWait` once. */
export async function lock(folder: string, onWait: () => void): Promise<Release> {
  for (let waits = 0; ; waits++) {
    const release = await tryLock(folder);
    if (release !== undefined) return release;
    if (waits === 0) onWait();
    await wait(POLL_MS);
  }
}

/** Returns the process id of the lock's holder: undefined if nobody holds it, empty if the holder does not say. */
export async function holderOf(folder: string): Promise<string | undefined> {
  const signal = AbortSignal.timeout(HOLDER_TIMEOUT_MS);
  try {
    return await text(connect({ path: addressOf(folder), signal }));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ECONNREFUSED" ? undefined : "";
  }
}

function addressOf(folder: string): string {
  createPrivateFolder(folder);
  const name = `onboarding-${createHash("sha256").update(realpathSync(folder)).digest("hex").slice(0, 32)}`;
  // On Linux the name starts with NUL: an abstract socket, which has no file.
  return process.platform === "linux" ? `\0${name}` : join(tmpdir(), `${name}.sock`);
}
