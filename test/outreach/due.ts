import { setTimeout as wait } from "node:timers/promises";
import type { Db } from "mongodb";
import { createTransport } from "nodemailer";
import { encode, type Stored } from "../../src/candidates/stored.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import type { MailServer } from "./mail-server.ts";
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

/** Returns how many messages a second the server takes, over so many seconds. */
export async function rateOf({ taken }: MailServer, seconds: number): Promise<number> {
  const before = taken.length;
  const began = performance.now();
  await wait(seconds * 1000);
  return (taken.length - before) / ((performance.now() - began) / 1000);
}

/** Returns how many messages a second the server takes from so many connections alone, which do nothing but send. */
export async function rateAlone(server: MailServer, connections: number, seconds: number): Promise<number> {
  const pool = createTransport({ url: server.url, pool: true, maxConnections: connections, maxMessages: Infinity });
  let ends = false;
  const lane = async (): Promise<void> => {
    while (!ends)
      await pool.sendMail({
        from: "jobs@example.com",
        to: "ada@example.com",
        subject: "Documents",
        text: "Please send.",
      });
  };
  const lanes = Promise.all(Array.from({ length: connections }, lane));
  await server.received(server.taken.length + connections);
  const rate = await rateOf(server, seconds);
  ends = true;
  await lanes;
  pool.close();
  return rate;
}
