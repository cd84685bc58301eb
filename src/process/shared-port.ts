import type { SendHandle } from "node:child_process";
import type { Worker } from "node:cluster";
import { lookup } from "node:dns/promises";
import * as net from "node:net";
import { getSystemErrorMap } from "node:util";

/** What node:cluster binds a port with. Node's types leave it out. */
interface NativePort {
  /** Writes the port to `address`. @returns 0, or the negative number of an error. */
  getsockname(address: { port?: number }): number;
  close(): void;
}
interface Native {
  /** @returns the negative number of an error if it cannot be bound. */
  _createServerHandle(address: string, port: number, family: number): NativePort | number;
}

/**
 * A port that the supervisor holds for its replicas. It accepts no connection itself: a `net.Server` always accepts, so
 * this is the handle below it. While the supervisor holds it, connections that nobody has accepted wait in the kernel,
 * even if every replica exits. The first replica that gets it listens on it; until then connections are refused.
 */
export class SharedPort {
  readonly #handle: NativePort;

  private constructor(handle: NativePort) {
    this.#handle = handle;
  }

  /**
   * Binds the port. 0 chooses one.
   * @throws if it is taken.
   */
  static async bind(port: number, host: string): Promise<SharedPort> {
    const { address, family } = await lookup(host);
    const handle = (net as unknown as Native)._createServerHandle(address, port, family);
    if (typeof handle === "number") throw listenError(handle, address, port);
    // libuv reports a port that is taken with the next call.
    const fault = handle.getsockname({});
    if (fault === 0) return new SharedPort(handle);
    handle.close();
    throw listenError(fault, address, port);
  }

  /** Sends a message together with a copy of the port, on which the replica can listen. */
  send(worker: Worker, message: object): void {
    // Node sends native handles too ("net.Native"), but its types do not say so.
    worker.send(message, this.#handle as unknown as SendHandle, () => undefined);
  }

  /** Refuses connections, once no replica has a copy either. */
  close(): void {
    this.#handle.close();
  }
}

/** Reads as the error of `net.Server.listen` does. */
function listenError(fault: number, address: string, port: number): Error {
  const [code, text] = getSystemErrorMap().get(fault) ?? [String(fault), "unknown error"];
  return Object.assign(new Error(`listen ${code}: ${text} ${address}:${port}`), { code });
}
