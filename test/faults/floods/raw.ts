import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** A TCP connection that sends raw bytes and collects what it receives. */
export class RawConnection {
  readonly socket: Socket;
  received = "";
  readonly closed: Promise<unknown>;

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1" });
    this.socket.setEncoding("latin1").on("data", (data: string) => (this.received += data));
    this.socket.on("error", () => undefined); // a reset is a valid refusal
    this.closed = once(this.socket, "close").catch(() => undefined);
  }

  /** Sends the chunk this many times, or until the other side closes the connection. @returns the bytes sent. */
  async pour(chunk: Buffer, times: number): Promise<number> {
    let sent = 0;
    for (let n = 0; n < times && this.socket.writable; n++) {
      sent += chunk.length;
      if (!this.socket.write(chunk))
        await Promise.race([once(this.socket, "drain").catch(() => undefined), this.closed]);
    }
    return sent;
  }

  /** Waits until the service closes the connection, and closes it after `ms` at the latest. @returns whether the service did. */
  async closedWithin(ms: number): Promise<boolean> {
    const closed = await Promise.race([this.closed.then(() => true), setTimeout(ms, false, { ref: false })]);
    this.socket.destroy();
    return closed;
  }
}

/** Returns what is wrong with the response to a bad request, or undefined if it is problem+json or empty. */
export function faultOf(received: string): string | undefined {
  if (received === "") return undefined;
  const [head = "", body = ""] = received.split(/\r\n\r\n(.*)/s);
  if (!/^HTTP\/1\.1 4\d\d /.test(head)) return `answered ${head.split("\r\n")[0]}`;
  if (!/^content-type: application\/problem\+json/im.test(head)) return `answer is not problem+json: ${head}`;
  try {
    JSON.parse(body);
    return undefined;
  } catch {
    return `body is not JSON, or there is more than one answer: ${body.slice(0, 200)}`;
  }
}
