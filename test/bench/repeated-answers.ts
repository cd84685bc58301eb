import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { BSON } from "mongodb";
import { ConnectionString } from "mongodb-connection-string-url";
import type { Bench } from "./bench.ts";
import { messagesIn, OP_MSG } from "./command-counter.ts";
import { oneHostOf } from "./one-host.ts";

/** Where an OP_MSG has its own id, the id that it answers, and its command if it begins with one (section kind 0). */
const [ID_AT, ANSWERS_AT, TYPE_AT, KIND_AT, BODY_AT] = [4, 8, 12, 20, 21];
/** Members of a command that say nothing about what is asked. */
const ASIDE = new Set(["lsid", "$clusterTime", "maxTimeMS"]);
const WRITES = ["insert", "update", "delete", "findAndModify"];

/**
 * Runs `measure` behind a proxy that stands before MongoDB. The proxy remembers the answer to each find of candidates and
 * repeats it until a candidate is written. So the servers' CPU is measured at their own pace: behind a slow MongoDB a
 * process sleeps between two answers, its data leave the processor's caches, and each answer costs several times as
 * much. If MONGODB_URL does not name one plain host, there is no proxy.
 */
export async function withRepeatedAnswers<T>(bench: Bench, measure: (repeating: Bench) => Promise<T>): Promise<T> {
  const [host, port] = oneHostOf(bench.mongodbUrl);
  if (host === undefined || port === undefined) return await measure(bench);
  const { mongodbUrl, close } = await startRepeating(bench.mongodbUrl, host, Number(port));
  try {
    return await measure({ ...bench, mongodbUrl });
  } finally {
    await bench.children.stopServers();
    close();
  }
}

async function startRepeating(mongodbUrl: string, host: string, port: number) {
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
  const url = new ConnectionString(mongodbUrl);
  url.hosts = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
  url.searchParams.set("directConnection", "true");
  return {
    mongodbUrl: url.href,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
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
