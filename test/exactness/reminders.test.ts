import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { REPLICAS } from "../grants/support.ts";
import { type MailServer, startMailServer, type Treatment } from "../reminders/mail-server.ts";
import { LoadClient } from "../support/load.ts";
import { type Processes, type Settings, spawnService } from "../support/processes.ts";
import { testConfig } from "../support/service.ts";
import { killInTurn } from "./kills.ts";
import { FULL, sizeOf } from "./size.ts";

const CANDIDATES = sizeOf("REMINDER_CANDIDATES", { small: 40, full: 500 });
/** One message to the candidate, and one to each of three referees. */
const MESSAGES = 4;
const KILLS = FULL ? 45 : 6;
/** At most so many messages are on their way when a replica is killed. */
const IN_FLIGHT = 5;
const MINUTE = 60_000;
/** In the small form the messages are spread over so many seconds that replicas are killed while they are sent. */
const PER_MINUTE = FULL ? 100_000 : 2_400;
/** The large form waits longer than the sender does, which then pauses. */
const STALL_MS = FULL ? 2 * MINUTE : 3_000;

/** A mail server that refuses, stalls and drops some of what it gets for the first time. The caller sets which. */
function troubled(): MailServer["treat"] {
  const seen = new Map<string, number>();
  let recipients = 0;
  return ({ to, at }) => {
    if (to === undefined) return "accept";
    if (at === "rcpt" && !seen.has(to)) seen.set(to, recipients++);
    else if (at === "rcpt") seen.set(to, -1); // it is tried again: take it
    const n = seen.get(to) ?? -1;
    const treatments: Record<number, Treatment> = {
      0: { at: "rcpt", reply: 450 },
      7: { at: "data", reply: 451 },
      13: { at: "answer", drop: true },
      20: { at: "rcpt", drop: true },
    };
    if (n === 150) return { at: "rcpt", stallMs: STALL_MS };
    // A connection that breaks pauses the sender for seconds, so it happens less often.
    const treatment = n < 0 || (n % 25 === 20 && n % 200 !== 20) ? undefined : treatments[n % 25];
    return treatment !== undefined && treatment !== "accept" && treatment.at === at ? treatment : "accept";
  };
}

describe(`reminders about ${CANDIDATES} candidates, sent by ${REPLICAS} replicas`, function () {
  this.timeout(15 * MINUTE);
  let server: MailServer;
  let settings: Settings;
  let replicas: Processes[];

  before(async () => {
    server = await startMailServer();
    const own: Settings = {
      SMTP_URL: server.url,
      MAIL_FROM: "jobs@example.com",
      PUBLIC_URL: "https://hire.example.com",
      MAIL_PER_MINUTE: PER_MINUTE,
      MAIL_PER_ACCOUNT_PER_DAY: 100_000,
      MAIL_NEW_ADDRESSES_PER_DAY: 100_000,
      LIMIT_SCALE: 1_000,
      STORE_TIMEOUT_MS: 30_000,
    };
    settings = { ...own, MONGODB_URL: testConfig(own).MONGODB_URL ?? "" };
    replicas = await Promise.all(Array.from({ length: REPLICAS }, () => spawnService(settings)));
  });
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await server.stop();
  });

  /** Creates and starts candidates. Returns their ids. */
  async function start(): Promise<string[]> {
    const { client } = await replicas[0]!.account();
    const load = new LoadClient(replicas[0]!.url, 8);
    const ids = await Promise.all(
      Array.from({ length: CANDIDATES }, async (_, n) => {
        const name = `${client.key.slice(-6)}.${n}`;
        const references = [1, 2, 3].map((k) => ({ email: `${name}.ref${k}@example.com` }));
        const body = JSON.stringify({ email: `${name}@example.com`, documents: ["CV"], references });
        const created = await load.send({ method: "POST", path: "/candidates", key: client.key, body });
        const { id } = JSON.parse(created.body) as { id: string };
        const started = await load.send({ method: "POST", path: `/candidates/${id}/start`, key: client.key });
        expect(started.status).to.equal(200);
        return id;
      }),
    );
    load.close();
    return ids;
  }

  const candidates = () => replicas[0]!.operators.mongo.db.collection<CandidateRecord & { _id: string }>("candidates");

  /** Waits until every reminder that is due within an hour was attempted. The last ones may still be under way. */
  async function settled(): Promise<void> {
    const soon = () => new Date(Date.now() + 60 * MINUTE).toISOString();
    while ((await candidates().countDocuments({ "outreach.look_at": { $gt: "", $lt: soon() } })) > 0) await wait(500);
  }

  /** Waits until no message is under way: the mail server has taken each one, or has dropped the connection after it. */
  async function delivered(): Promise<void> {
    await settled();
    for (const { db } = replicas[0]!.operators.mongo; ; await wait(500)) {
      const taken = await db
        .collection<{ _id: string }>("messages")
        .find({ kind: { $in: ["sent", "unconfirmed"] } })
        .toArray();
      const ids = new Set(taken.map(({ _id }) => _id));
      const recipients = (await candidates().find().toArray()).flatMap(({ outreach }) => outreach.recipients);
      if (recipients.every(({ last }) => ids.has(`${last?.message_id} ${last?.tries}`))) return;
    }
  }

  /** Returns how often what belongs to these candidates was attempted, by the records. */
  async function attempts(ids: readonly string[]): Promise<number[]> {
    const records = await candidates()
      .find({ _id: { $in: [...ids] } })
      .toArray();
    return records.flatMap(({ documents, references }) =>
      [...documents, ...references].map(({ chase }) => chase.attempts),
    );
  }

  /** The addresses that messages went to. Expects that no Message-ID was seen twice, and no address. */
  function recipients(): Set<string> {
    const to = server.taken.map((mail) => [mail.to].flat()[0]?.value[0]?.address ?? "");
    expect(new Set(server.taken.map(({ messageId }) => messageId)).size, "a Message-ID was seen twice").to.equal(
      server.taken.length,
    );
    expect(new Set(to).size, "a message was sent twice").to.equal(to.length);
    return new Set(to);
  }

  it("send every due attempt once, over a mail server that refuses, stalls and drops", async () => {
    server.treat = troubled();
    const ids = await start();
    await delivered();
    expect(recipients().size).to.equal(CANDIDATES * MESSAGES);
    expect(await attempts(ids)).to.deep.equal(Array.from({ length: CANDIDATES * MESSAGES }, () => 1));
  });

  it(`send none twice and none above a cap while a replica is killed every second, ${KILLS} times`, async () => {
    server.taken.length = 0;
    server.treat = troubled();
    const ids = await start();
    await killInTurn(replicas, settings, KILLS);
    await settled();
    const sent = recipients().size;
    expect(sent).to.be.within(CANDIDATES * MESSAGES - KILLS * IN_FLIGHT, CANDIDATES * MESSAGES);
    expect(await attempts(ids)).to.deep.equal(Array.from({ length: CANDIDATES * MESSAGES }, () => 1));
  });
});
