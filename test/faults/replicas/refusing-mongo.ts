import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { BSON } from "mongodb";

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;

/** A MongoDB that refuses every login. */
export interface RefusingMongo {
  readonly port: number;
  close(): void;
}

/** Starts a server that speaks enough of the wire protocol for a login, and refuses each with code 18. */
export async function startRefusingMongo(): Promise<RefusingMongo> {
  const server = createServer((socket) => {
    let waiting = Buffer.alloc(0);
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      waiting = Buffer.concat([waiting, data]);
      while (waiting.length >= 4 && waiting.length >= waiting.readInt32LE(0)) {
        const message = waiting.subarray(0, waiting.readInt32LE(0));
        waiting = waiting.subarray(message.length);
        socket.write(replyTo(message));
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

function replyTo(message: Buffer): Buffer {
  const isQuery = message.readInt32LE(12) === OP_QUERY;
  // OP_QUERY has flags, the collection's name with a final zero, and two numbers. OP_MSG has flags and the kind of section.
  const at = isQuery ? message.indexOf(0, HEADER_BYTES + 4) + 1 + 8 : HEADER_BYTES + 5;
  const command = BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)));
  const document = BSON.serialize("saslStart" in command ? REFUSED : HELLO);
  const head = Buffer.alloc(HEADER_BYTES + (isQuery ? 20 : 5));
  head.writeInt32LE(head.length + document.length, 0);
  head.writeInt32LE(message.readInt32LE(4), 8);
  head.writeInt32LE(isQuery ? OP_REPLY : OP_MSG, 12);
  if (isQuery) head.writeInt32LE(1, HEADER_BYTES + 16);
  return Buffer.concat([head, document]);
}

const REFUSED = { ok: 0, code: 18, codeName: "AuthenticationFailed", errmsg: "Authentication failed." };
const HELLO = {
  ok: 1,
  helloOk: true,
  ismaster: true,
  isWritablePrimary: true,
  minWireVersion: 0,
  maxWireVersion: 21,
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  saslSupportedMechs: ["SCRAM-SHA-256"],
};
