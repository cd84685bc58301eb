import { createHash } from "node:crypto";
import { once } from "node:events";
import { realpathSync, rmSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPrivateFolder } from "./data-dir.ts";

const ANSWER_TIMEOUT_MS = 1_000;

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
    const release = await listen(address);
    if (release !== undefined || (await isHeld(address))) return release;
    rmSync(address, { force: true }); // a socket file that outlived its process; never on Linux
  }
}

/** Takes the lock of a folder. Waits as long as another process holds it, and then calls `onWait` once. */
export async function lock(folder: string, onWait: () => void): Promise<Release> {
  for (let waits = 0; ; waits++) {
    const release = await tryLock(folder);
    if (release !== undefined) return release;
    if (waits === 0) onWait();
    await untilFree(addressOf(folder));
  }
}

/** Returns the process id of the lock's holder; undefined if nobody holds it, or if the holder does not say. */
export async function holderOf(folder: string): Promise<number | undefined> {
  const socket = connect(addressOf(folder));
  try {
    const [line] = (await once(socket, "data", { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) })) as [Buffer];
    return Number(line.toString()) || undefined;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

function addressOf(folder: string): string {
  createPrivateFolder(folder);
  const name = `onboarding-${createHash("sha256").update(realpathSync(folder)).digest("hex").slice(0, 32)}`;
  // On Linux the name starts with NUL: an abstract socket, which has no file.
  return process.platform === "linux" ? `\0${name}` : join(tmpdir(), `${name}.sock`);
}

async function listen(address: string): Promise<Release | undefined> {
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    waiting.add(
      socket
        .on("error", () => socket.destroy())
        .on("close", () => waiting.delete(socket))
        .unref(),
    );
    socket.write(`${process.pid}`);
  });
  try {
    await once(server.listen(address), "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw error;
  }
  server.unref();
  return () => {
    server.close();
    for (const socket of waiting) socket.destroy();
  };
}

async function isHeld(address: string): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, "connect");
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ECONNREFUSED" || process.platform === "linux";
  } finally {
    socket.destroy();
  }
}

/** Connects to the holder. The connection stays open until the holder releases the lock or exits. */
async function untilFree(address: string): Promise<void> {
  const socket = connect(address);
  // `resume`, because the end of a connection is only noticed once everything is read.
  await new Promise((resolve) => {
    socket
      .on("error", () => socket.destroy())
      .on("close", resolve)
      .resume();
  });
}
