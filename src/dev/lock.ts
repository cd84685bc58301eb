import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Lets go of a lock. */
export type Release = () => void;

/**
 * Takes the lock of a folder (made if missing): a listening socket named after it. The kernel frees it however the
 * process ends, so a lock is never stale, as a file with a process id in it can be after a crash or a reboot.
 * @returns undefined when another process holds it.
 */
export async function tryLock(folder: string): Promise<Release | undefined> {
  const address = addressOf(folder);
  for (;;) {
    const release = await listen(address);
    if (release !== undefined || (await isHeld(address))) return release;
    rmSync(address, { force: true }); // a socket file that outlived its process; Linux has none
  }
}

/** Takes the lock of a folder, waiting for as long as others hold it; `onWait` is called once if there is a wait. */
export async function lock(folder: string, onWait: () => void): Promise<Release> {
  for (let waits = 0; ; waits++) {
    const release = await tryLock(folder);
    if (release !== undefined) return release;
    if (waits === 0) onWait();
    await untilFree(addressOf(folder));
  }
}

function addressOf(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const name = `onboarding-${createHash("sha256").update(realpathSync(folder)).digest("hex").slice(0, 32)}`;
  // Linux knows socket names without a file.
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

/** The holder keeps our connection open until it lets go or ends. */
async function untilFree(address: string): Promise<void> {
  const socket = connect(address);
  await new Promise((resolve) => socket.on("error", () => socket.destroy()).on("close", resolve));
}
