import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { eventsOf, touchesLimiter } from "./limiter-events.ts";
import { type Frame, FrameReader, isPush, type RespValue } from "./resp.ts";

/** A proxy in front of a Redis that records what is done to the limiter's keys. */
export interface Recorder {
  readonly port: number;
  /** Ends all connections, and resolves when the trace is on disk. */
  close(): Promise<void>;
}

/** What one recorder's connections share. */
interface Shared {
  readonly port: number;
  /** Runs `act` after all earlier turns have ended. */
  readonly inTurn: <T>(act: () => Promise<T>) => Promise<T>;
  /** `answer` is undefined if the connection broke before one came. */
  readonly record: (command: string[], answer: RespValue | undefined) => void;
}

/**
 * Starts a recorder in front of the Redis at this port of 127.0.0.1. It writes a new file limiter-….ndjson in the folder: one
 * line for each event (test/model/limiter-events.ts), in the order in which Redis ran them.
 *
 * That order is exact, because the recorder sends a command that touches a key of the limiter only when the one before it was
 * answered, over all its connections. Redis runs one command at a time anyway, so each order that comes out of this is one
 * that could have come without it. MONITOR would show the order too, but not the answers. If a client goes away, what it
 * sent is still run and recorded: for the client that is a charge with a lost answer.
 */
export async function startRecorder(port: number, folder: string): Promise<Recorder> {
  mkdirSync(folder, { recursive: true });
  const sockets = new Set<Socket>();
  let last: Promise<unknown> = Promise.resolve();
  const shared: Shared = {
    port,
    inTurn(act) {
      const turn = last.then(act);
      last = turn.catch(() => undefined);
      return turn;
    },
    record(command, answer) {
      for (const event of eventsOf(command, answer)) file.write(`${JSON.stringify(event)}\n`);
    },
  };
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket
        .setNoDelay()
        .on("error", () => undefined)
        .on("close", () => sockets.delete(socket));
    }
    void new Connection(client, server, shared).serve();
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const own = (listener.address() as AddressInfo).port;
  // Several processes may record into one folder, and one process several servers.
  const file = createWriteStream(join(folder, `limiter-${process.pid}-${own}.ndjson`), { flags: "a" });
  return {
    port: own,
    async close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
      await last;
      file.end();
      await once(file, "finish");
    },
  };
}

/** Commands after which a connection is no longer one answer for one command. */
const STREAMS = new Set(["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC"]);

class Connection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #shared: Shared;
  readonly #answers: Frame[] = [];
  #wakeReader: () => void = () => undefined;
  #broken = false;
  /** The commands since MULTI; undefined outside a transaction. */
  #transaction: string[][] | undefined;

  constructor(client: Socket, server: Socket, shared: Shared) {
    this.#client = client;
    this.#server = server;
    this.#shared = shared;
    const reader = new FrameReader();
    server.on("data", (data) => {
      for (const frame of reader.push(data)) {
        if (isPush(frame)) client.write(frame.raw);
        else this.#answers.push(frame);
      }
      this.#wakeReader();
    });
    for (const event of ["end", "close", "error"]) {
      server.on(event, () => {
        this.#broken = true;
        this.#wakeReader();
      });
    }
  }

  /** Forwards commands and answers until either side ends. */
  async serve(): Promise<void> {
    const reader = new FrameReader();
    try {
      for await (const data of this.#client) {
        for (const frame of reader.push(data as Buffer)) if (!(await this.#forward(frame))) return;
      }
    } catch {
      // The client's connection was reset. All that came before is forwarded.
    }
    this.#server.end();
    this.#client.end();
  }

  /** @returns whether the next command is to be read. */
  async #forward({ raw, value }: Frame): Promise<boolean> {
    const command = value as string[];
    const name = command[0]?.toUpperCase() ?? "";
    if (STREAMS.has(name)) {
      this.#pipe(raw);
      return false;
    }
    const ran = this.#ran(name, command);
    const counts = ran.some(touchesLimiter);
    const answer = counts
      ? await this.#shared.inTurn(async () => {
          const got = await this.#ask(raw);
          this.#record(ran, name, got?.value);
          return got;
        })
      : await this.#ask(raw);
    if (answer === undefined) {
      this.#client.destroy();
      return false;
    }
    if (this.#client.writable) this.#client.write(answer.raw);
    return true;
  }

  /** @returns the commands that Redis runs now: those of a transaction run when it ends. */
  #ran(name: string, command: string[]): string[][] {
    const transaction = this.#transaction;
    if (name === "MULTI") this.#transaction = [];
    else if (name === "EXEC" || name === "DISCARD") this.#transaction = undefined;
    else if (transaction !== undefined) transaction.push(command);
    if (name === "MULTI" || name === "DISCARD") return [];
    if (name === "EXEC") return transaction ?? [];
    return transaction === undefined ? [command] : [];
  }

  #record(ran: readonly string[][], name: string, answer: RespValue | undefined): void {
    if (name !== "EXEC") this.#shared.record(ran[0]!, answer);
    else if (answer === undefined || Array.isArray(answer))
      ran.forEach((command, index) => this.#shared.record(command, answer?.[index]));
  }

  async #ask(raw: Buffer): Promise<Frame | undefined> {
    if (!this.#broken) this.#server.write(raw);
    while (this.#answers.length === 0 && !this.#broken)
      await new Promise<void>((resolve) => (this.#wakeReader = resolve));
    return this.#answers.shift();
  }

  #pipe(raw: Buffer): void {
    this.#server.removeAllListeners("data").write(raw);
    this.#client.pipe(this.#server);
    this.#server.pipe(this.#client);
  }
}
