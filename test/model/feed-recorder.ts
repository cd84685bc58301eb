import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Document } from "mongodb";
import { decodeCursor } from "../../src/candidates/feed.ts";
import {
  accountOf,
  type EndEvent,
  eventsOf,
  type FeedConstants,
  type FeedEvent,
  isTraced,
  type PageEvent,
  type ReadRow,
} from "./feed-events.ts";
import { documentOf, isAnswered, type Message, messageReader } from "./wire.ts";

/** A page as the API answers it. */
export interface AnsweredPage {
  readonly data: readonly ReadRow[];
  readonly has_more: boolean;
  readonly cursor: string;
}

/**
 * A TCP proxy between the service and MongoDB that records what happens to the feed. It passes on one traced command at
 * a time, and the next one after MongoDB has answered. So the order of the events is the order in which MongoDB made
 * them.
 */
export interface FeedRecorder {
  readonly port: number;
  /** How long to hold a write back on its way to MongoDB, in milliseconds. */
  delayOf: (command: Document) => number;
  /** How many of an account's traced commands are held back or wait for MongoDB. */
  waiting(account: string): number;
  /** All events so far, or those of one account with the marks. */
  events(account?: string): readonly FeedEvent[];
  /** Notes that the traced reader of an account got a page. @param cursor what it had sent, empty at first. */
  read(account: string, cursor: string, page: AnsweredPage): void;
  /**
   * Writes the trace of an account to a folder, as the next file feed-<process>-<n>.ndjson. All must be quiet by then.
   * @throws if a command could not be recorded.
   */
  write(folder: string, account: string, constants: FeedConstants, end: Omit<EndEvent, "type">): void;
  close(): void;
}

/** What one recorder's connections share. */
interface Shared {
  /** Holds a command back as `delayOf` says, and then runs `act` after all earlier turns have ended. Never rejects. */
  readonly inTurn: (command: Document, act: () => Promise<void>) => Promise<void>;
  readonly record: (command: Document, answer: Document) => void;
}

/** Starts a recorder in front of the server at this address. */
export async function startFeedRecorder(port: number, host = "127.0.0.1"): Promise<FeedRecorder> {
  const sockets = new Set<Socket>();
  const events: FeedEvent[] = [];
  const waiting: (string | undefined)[] = [];
  let previous: Promise<unknown> = Promise.resolve();
  let failure: unknown;
  const shared: Shared = {
    async inTurn(command, act) {
      const account = accountOf(command);
      waiting.push(account);
      await setTimeout(recorder.delayOf(command));
      previous = previous.then(act).catch((error: unknown) => (failure ??= error));
      await previous;
      waiting.splice(waiting.indexOf(account), 1);
    },
    record: (command, answer) => void events.push(...eventsOf(command, answer, Date.now())),
  };
  const server = createServer((client) => {
    const mongo = connect(port, host);
    for (const socket of [client, mongo]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }
    passOn(client, mongo, shared);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");

  const recorder: FeedRecorder = {
    port: (server.address() as AddressInfo).port,
    delayOf: () => 0,
    waiting: (account) => waiting.filter((each) => each === account).length,
    events: (account) =>
      events.filter((event) => account === undefined || !("account" in event) || event.account === account),
    read(account, cursor, page) {
      const from = cursor === "" ? { after: "", safe: "" } : decodeCursor(cursor);
      const found = events.findLast(
        (event): event is PageEvent => event.type === "page" && event.account === account && event.after === from.after,
      );
      if (found === undefined) throw new Error("The recorder has not seen this page. Does the service use its port?");
      const rows = page.data.map(({ id, version }) => ({ id, version }));
      found.read = { from, to: decodeCursor(page.cursor), rows, more: page.has_more };
    },
    write(folder, account, constants, end) {
      if (failure !== undefined) throw failure;
      mkdirSync(folder, { recursive: true });
      const lines = [constants, ...recorder.events(account), { type: "end", ...end }];
      const number = readdirSync(folder).filter((file) => file.startsWith("feed-")).length + 1;
      const name = `feed-${process.pid}-${number}.ndjson`;
      writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return recorder;
}

/** Passes the messages of one connection on in both directions until either side ends. */
function passOn(client: Socket, mongo: Socket, shared: Shared): void {
  const answered = new Map<number, (answer: Document | undefined) => void>();
  const pending = new Set<Promise<void>>();
  const ask = (message: Message): Promise<Document | undefined> =>
    new Promise((resolve) => {
      answered.set(message.id, resolve);
      if (!mongo.write(message.bytes) && mongo.destroyed) resolve(undefined);
    });
  const send = (message: Message): void => {
    const command = documentOf(message);
    if (command === undefined || !isAnswered(message) || !isTraced(command)) {
      mongo.write(message.bytes);
      return;
    }
    const turn = shared.inTurn(command, async () => {
      const answer = await ask(message);
      if (answer !== undefined) shared.record(command, answer);
    });
    pending.add(turn);
    void turn.then(() => pending.delete(turn));
  };
  const read = messageReader();
  client.on("data", (data) => read(data).forEach(send));
  const readAnswers = messageReader();
  mongo.on("data", (data) => {
    for (const message of readAnswers(data)) {
      // The event is written down in the same turn, so before the service can go on with the answer.
      answered.get(message.answers)?.(documentOf(message));
      answered.delete(message.answers);
      if (!client.destroyed) client.write(message.bytes);
    }
  });
  // Deliver what the client sent before it disconnected, as a slow network would.
  client.on("close", () => void Promise.all(pending).then(() => mongo.end()));
  mongo.on("close", () => {
    for (const resolve of answered.values()) resolve(undefined);
    client.destroy();
  });
}
