import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const HEADER_BYTES = 16;
export const OP_MSG = 2013;
/** Where the name of the first element of an OP_MSG's body begins: header, flags, kind, the document's length, its type. */
const NAME_AT = HEADER_BYTES + 4 + 1 + 4 + 1;

/** A command on the way to MongoDB: one round trip. */
export interface Command {
  /** For example "find candidates". */
  readonly name: string;
  /** Whether MongoDB's reply has reached the service. */
  readonly isAnswered: boolean;
}

/** Stands between the service and MongoDB, and counts the commands that pass. */
export interface CommandCounter {
  readonly address: string;
  /** Every command since `forget`. */
  readonly commands: readonly Command[];
  forget(): void;
  close(): void;
}

/** @param delayMs delay of each reply, in milliseconds. A request is then answered before a reply that it does not wait for. */
export async function countCommands(host: string, port: number, { delayMs = 0 } = {}): Promise<CommandCounter> {
  const commands: Command[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined); // the other side is closed below
    }
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => setTimeout(() => client.destroy(), delayMs));
    const open = new Map<number, { name: string; isAnswered: boolean }>();
    const readCommands = messagesIn((message) => {
      if (message.readInt32LE(12) !== OP_MSG) return;
      const command = { name: commandOf(message), isAnswered: false };
      open.set(message.readInt32LE(4), command);
      commands.push(command);
    });
    const readReplies = messagesIn((message) => {
      const command = open.get(message.readInt32LE(8));
      if (command !== undefined) command.isAnswered = true;
    });
    client.on("data", readCommands);
    client.pipe(upstream);
    upstream.on("data", (bytes) => {
      setTimeout(() => {
        readReplies(bytes);
        client.write(bytes);
      }, delayMs);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    commands,
    forget: () => void commands.splice(0),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Returns a function that finds the messages in a stream of bytes, however they are cut. */
export function messagesIn(found: (message: Buffer) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= HEADER_BYTES && rest.length >= rest.readInt32LE(0)) {
      const message = rest.subarray(0, rest.readInt32LE(0));
      rest = rest.subarray(message.length);
      found(message);
    }
  };
}

/** The first element of a command is its name, with the collection as its value. */
function commandOf(message: Buffer): string {
  const nameEnd = message.indexOf(0, NAME_AT);
  const name = message.toString("utf8", NAME_AT, nameEnd);
  const isText = message[NAME_AT - 1] === 2;
  const collection = isText ? message.toString("utf8", nameEnd + 5, message.indexOf(0, nameEnd + 5)) : "";
  return `${name} ${collection}`.trim();
}
