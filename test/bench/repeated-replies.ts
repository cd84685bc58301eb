import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { BSON } from "mongodb";
import { primaryOf } from "../support/mongo-url.ts";
import { SetupError } from "../../src/dev/output.ts";
import type { Bench } from "./bench.ts";

const OP_MSG = 2013;
const HEADER_BYTES = 16;
/** Where an OP_MSG has its own id, the id that it answers, and its command if it begins with one (section kind 0). */
const [ID_AT, ANSWERS_AT, TYPE_AT, KIND_AT, BODY_AT] = [4, 8, 12, 20, 21];
/** Members of a command that say nothing about what is asked. */
const ASIDE = new Set(["lsid", "$clusterTime", "maxTimeMS"]);
const WRITES = ["insert", "update", "delete", "findAndModify"];

/**
 * Runs `measure` behind a proxy that stands before MongoDB. The proxy remembers the answer to each find of candidates and
 * repeats it until a candidate is written. So the servers' CPU is measured at their own pace: behind a slow MongoDB a
 * process sleeps between two answers, its data leave the processor's caches, and each answer costs several times as
 * much.
 */
export async function withRepeatedReplies<T>(bench: Bench, measure: (repeating: Bench) => Promise<T>): Promise<T> {
  const { host, port, tls, through } = await primaryOf(bench.mongodbUrl);
  if (tls) throw new SetupError("The bench reads what is sent to MongoDB, so MONGODB_URL may not use TLS.");
  const { address, close } = await startProxy(host, port);
  try {
    return await measure({ ...bench, mongodbUrl: through(address, bench.mongo.db().databaseName) });
  } finally {
    await bench.children.stopAll();
    close();
  }
}

async function startProxy(host: string, port: number): Promise<{ address: string; close: () => void }> {
  const answers = new Map<string, Buffer>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const mongo = connect(port, host);
    const asked = new Map<number, string>();
    for (const socket of [client.setNoDelay(), mongo.setNoDelay()]) {
      sockets.add(socket);
      socket.on("error", () => undefined); // the other side is closed below
    }
    client.on("close", () => mongo.destroy());
    mongo.on("close", () => client.destroy());
    client.on(
      "data",
      messagesIn((message) => {
        const command = commandIn(message);
        if (WRITES.some((write) => command?.[write] === "candidates")) answers.clear();
        const question = command?.["find"] === "candidates" ? questionOf(command) : undefined;
        const known = question === undefined ? undefined : answers.get(question);
        if (question !== undefined && known === undefined) asked.set(message.readInt32LE(ID_AT), question);
        if (known === undefined) mongo.write(message);
        else client.write(answerTo(message, known));
      }),
    );
    mongo.on(
      "data",
      messagesIn((answer) => {
        const question = asked.get(answer.readInt32LE(ANSWERS_AT));
        if (question !== undefined) answers.set(question, answer);
        client.write(answer);
      }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Returns a function that finds the messages in a stream of bytes, however they are cut. */
function messagesIn(found: (message: Buffer) => void): (bytes: Buffer) => void {
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

function commandIn(message: Buffer): Record<string, unknown> | undefined {
  if (message.readInt32LE(TYPE_AT) !== OP_MSG || message[KIND_AT] !== 0) return undefined;
  return BSON.deserialize(message.subarray(BODY_AT, BODY_AT + message.readInt32LE(BODY_AT)));
}

function questionOf(command: Record<string, unknown>): string {
  return JSON.stringify(Object.entries(command).filter(([name]) => !ASIDE.has(name)));
}

function answerTo(message: Buffer, known: Buffer): Buffer {
  const answer = Buffer.from(known);
  answer.writeInt32LE(message.readInt32LE(ID_AT), ANSWERS_AT);
  return answer;
}
