import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { REPLICAS } from "../grants/support.ts";
import { type MailServer, startMailServer } from "../reminders/mail-server.ts";
import { LoadClient } from "../support/load.ts";
import { type Processes, type Settings, spawnService } from "../support/processes.ts";
import { testConfig } from "../support/service.ts";
import { killInTurn } from "./kills.ts";
import { sizeOf } from "./size.ts";

const KILLS = sizeOf("MAIL_BUDGET_KILLS", { small: 6, full: 60 });
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const PER_ACCOUNT = 60;
const NEW_ADDRESSES = 40;
const PER_ADDRESS = 3;

describe(`the budgets of mail, with ${REPLICAS} replicas of which one is killed every second`, function () {
  this.timeout(10 * MINUTE);
  let server: MailServer;
  let settings: Settings;
  let replicas: Processes[];

  before(async function () {
    if (Date.now() % DAY > DAY - 10 * MINUTE) this.skip(); // a new day would bring new budgets
    server = await startMailServer();
    const own: Settings = {
      SMTP_URL: server.url,
      MAIL_FROM: "jobs@example.com",
      PUBLIC_URL: "https://hire.example.com",
      MAIL_PER_MINUTE: 2_400,
      MAIL_PER_ACCOUNT_PER_DAY: PER_ACCOUNT,
      MAIL_NEW_ADDRESSES_PER_DAY: NEW_ADDRESSES,
      MAIL_PER_ADDRESS_PER_DAY: PER_ADDRESS,
      LIMIT_SCALE: 1_000,
      STORE_TIMEOUT_MS: 30_000,
    };
    settings = { ...own, MONGODB_URL: testConfig(own).MONGODB_URL ?? "" };
    replicas = await Promise.all(Array.from({ length: REPLICAS }, () => spawnService(settings)));
  });
  after(async () => {
    await Promise.all((replicas ?? []).map((replica) => replica.stop()));
    await server?.stop();
  });

  /** Creates and starts a candidate for each address, in a new account. Returns the account's id. */
  async function start(emails: readonly string[]): Promise<string> {
    const { id, client } = await replicas[0]!.account();
    const load = new LoadClient(replicas[0]!.url, 8);
    await Promise.all(
      emails.map(async (email) => {
        const body = JSON.stringify({ email, documents: ["CV"] });
        const created = await load.send({ method: "POST", path: "/candidates", key: client.key, body });
        const { id: candidate } = JSON.parse(created.body) as { id: string };
        const started = await load.send({ method: "POST", path: `/candidates/${candidate}/start`, key: client.key });
        expect(started.status).to.equal(200);
      }),
    );
    load.close();
    return id;
  }

  const candidates = () =>
    replicas[0]!.operators.mongo.db.collection<CandidateRecord & { account: string }>("candidates");

  /** Returns how many messages about these accounts' candidates were claimed. All others must wait for the next day. */
  async function claimed(...accounts: string[]): Promise<number> {
    const records = await candidates()
      .find({ account: { $in: accounts } })
      .toArray();
    const sent = records.filter(({ documents }) => documents[0]?.chase.attempts === 1);
    const tomorrow = new Date((Math.floor(Date.now() / DAY) + 1) * DAY).toISOString();
    for (const { documents, outreach } of records)
      if (documents[0]?.chase.attempts === 0)
        expect([outreach.reason, outreach.next_at]).to.deep.equal(["mail_limit", tomorrow]);
    return sent.length;
  }

  it("hold exactly: of an account, of its new addresses, and of one address", async () => {
    const numbered = (count: number, name: (n: number) => string) => Array.from({ length: count }, (_, n) => name(n));
    const many = await start(numbered(NEW_ADDRESSES + 20, (n) => `new${n}@example.com`));
    const again = await start(numbered(PER_ACCOUNT + 10, (n) => `known${n % 30}@example.com`));
    const crowd = await Promise.all([1, 2].map(() => start(numbered(PER_ADDRESS + 2, () => "victim@example.com"))));
    await killInTurn(replicas, settings, KILLS);
    const soon = () => new Date(Date.now() + MINUTE).toISOString();
    while ((await candidates().countDocuments({ "outreach.look_at": { $gt: "", $lt: soon() } })) > 0) await wait(500);
    expect(await claimed(many), "new addresses").to.equal(NEW_ADDRESSES);
    expect(await claimed(again), "messages of an account").to.equal(PER_ACCOUNT);
    expect(await claimed(...crowd), "messages to one address").to.equal(PER_ADDRESS);
    const taken = server.taken.map((mail) => [mail.to].flat()[0]?.value[0]?.address ?? "");
    for (const [name, most] of [
      [/^new/, NEW_ADDRESSES],
      [/^known/, PER_ACCOUNT],
      [/^victim/, PER_ADDRESS],
    ] as const)
      expect(taken.filter((to) => name.test(to)).length, String(name)).to.be.at.most(most);
  });
});
