import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

const HEADER_BYTES = 16;
export const OP_MSG = 2013;
/** Where the name of the first element of an OP_MSG's body begins: header, flags, kind, the document's length, its type. */
const NAME_AT = HEADER_BYTES + 4 + 1 + 4 + 1;

/** Stands between the service and MongoDB, and counts the commands that pass: each is one round trip. */
export interface CommandCounter {
  readonly address: string;
  /** Every command since `forget`, for example "find candidates". */
  readonly commands: readonly string[];
  forget(): void;
  close(): void;
}

export async function countCommands(host: string, port: number): Promise<CommandCounter> {
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined); // the other side is closed below
    }
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    client.on(
      "data",
      messagesIn((message) => void (message.readInt32LE(12) === OP_MSG && commands.push(commandOf(message)))),
    );
    client.pipe(upstream);
    upstream.pipe(client);
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
