import { once } from "node:events";
import { connect, type Socket } from "node:net";

const HEADERS_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/**
 * One kept-alive connection that sends requests made of bytes, one at a time. It reads as much of a response as it needs to
 * find its end, so that the generator costs less than any server that it measures.
 */
export class Connection {
  readonly #socket: Socket;
  #waiting: { resolve: (status: number) => void; reject: (error: Error) => void } | undefined;
  #head: Buffer | undefined;
  #status = 0;
  /** Bytes of the response that are still to come. NaN until the headers are here; Infinity if it comes in chunks. */
  #missing = NaN;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("The server closed the connection.")));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new Connection(socket);
  }

  /** @returns the status of the response. @throws if the server closes the connection, or has closed it. */
  send(request: Buffer): Promise<number> {
    if (this.#socket.destroyed) return Promise.reject(new Error("The server closed the connection."));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (Number.isNaN(this.#missing)) {
      this.#head = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
      const end = this.#head.indexOf(HEADERS_END);
      if (end < 0) return;
      this.#begin(this.#head.toString("latin1", 0, end), this.#head.length - end - HEADERS_END.length);
    } else {
      this.#missing -= chunk.length;
    }
    const chunked = this.#missing === Infinity;
    if (chunked ? chunk.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) : this.#missing <= 0) this.#done();
  }

  #begin(head: string, bodyReceived: number): void {
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const bodyless = this.#status === 304 || this.#status === 204;
    this.#missing = bodyless ? 0 : length === undefined ? Infinity : Number(length) - bodyReceived;
  }

  #done(): void {
    const waiting = this.#waiting;
    this.#head = this.#waiting = undefined;
    this.#missing = NaN;
    waiting?.resolve(this.#status);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}
