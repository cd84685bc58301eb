import { setTimeout as wait } from "node:timers/promises";
import type { Db } from "mongodb";
import { createTransport } from "nodemailer";
import { encode, type Stored } from "../../src/candidates/stored.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { requestedDocument, startedCandidate } from "./support.ts";

/** Rows of one insert. */
const BATCH = 500;

/** Adds candidates of an account, each with an address of its own and a first message that is due. */
export async function fillDue(db: Db, accountId: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - done) }, (_, n) => {
      const documents = [requestedDocument(newTypeId("doc"))];
      const email = `ada.${done + n}@example.com`;
      return encode(startedCandidate({ id: newTypeId("cand"), accountId, email, documents }), Date.now());
    });
    await db.collection<Stored>("candidates").insertMany(batch);
  }
}

/** Returns the messages that a mail server takes in a second, over so many seconds. @param count all that it took so far. */
export async function rateOf(count: () => number | Promise<number>, seconds: number): Promise<number> {
  const before = await count();
  const began = performance.now();
  await wait(seconds * 1000);
  return ((await count()) - before) / ((performance.now() - began) / 1000);
}

/** Returns the messages that a mail server takes in a second from so many connections which do nothing but send. */
export async function rateAlone(url: string, connections: number, seconds: number): Promise<number> {
  const pool = createTransport({ url, pool: true, maxConnections: connections, maxMessages: Infinity });
  const message = { from: "jobs@example.com", to: "ada@example.com", subject: "Documents", text: "Please send." };
  const lanes = Array.from({ length: connections }, (_, lane) => lane);
  await Promise.all(lanes.map(() => pool.sendMail(message)));
  let [ends, count] = [false, 0];
  const sending = lanes.map(async () => {
    for (; !ends; count++) await pool.sendMail(message);
  });
  const rate = await rateOf(() => count, seconds);
  ends = true;
  await Promise.all(sending);
  pool.close();
  return rate;
}
