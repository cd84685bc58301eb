import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** A connection that speaks in bytes, and keeps what comes back. */
export class RawConnection {
  readonly socket: Socket;
  received = "";
  readonly closed: Promise<unknown>;

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1" });
    this.socket.setEncoding("latin1").on("data", (data: string) => (this.received += data));
    this.socket.on("error", () => undefined); // a reset is one way to be refused
    this.closed = once(this.socket, "close").catch(() => undefined);
  }

  /** Sends on for as long as it is wanted and the other side takes it. @returns the bytes sent. */
  async pour(chunk: Buffer, times: number): Promise<number> {
    let sent = 0;
    for (let n = 0; n < times && this.socket.writable; n++) {
      sent += chunk.length;
      if (!this.socket.write(chunk))
        await Promise.race([once(this.socket, "drain").catch(() => undefined), this.closed]);
    }
    return sent;
  }

  /** Ends it where the service has not within that time. @returns whether the service did. */
  async closedWithin(ms: number): Promise<boolean> {
    const closed = await Promise.race([this.closed.then(() => true), setTimeout(ms, false, { ref: false })]);
    this.socket.destroy();
    return closed;
  }
}

/** What is wrong with an answer to a bad request; undefined where it is problem+json, or nothing at all. */
export function faultOf(received: string): string | undefined {
  if (received === "") return undefined;
  const [head = "", body = ""] = received.split(/\r\n\r\n(.*)/s);
  if (!/^HTTP\/1\.1 4\d\d /.test(head)) return `answered ${head.split("\r\n")[0]}`;
  if (!/^content-type: application\/problem\+json/im.test(head)) return `is no problem+json: ${head}`;
  try {
    JSON.parse(body);
    return undefined;
  } catch {
    return `is no JSON, or more than one answer: ${body.slice(0, 200)}`;
  }
}
