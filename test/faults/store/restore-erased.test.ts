import { expect } from "chai";
import { type Collection, type Document, MongoClient } from "mongodb";
import { mailSettings, useMailServer } from "../../reminders/mail-server.ts";
import { type Answer, Client } from "../../support/client.ts";
import type { TestAccount } from "../../support/service.ts";
import { expectClosed, isServed, until, useCopies } from "./copies.ts";

describe("A backup from before an erasure", function () {
  this.timeout(180_000); // each test starts several servers and processes, and copies files
  const copies = useCopies();
  const { copy, start, startServers, startReplica, stop, admin } = copies;
  const mail = useMailServer();
  beforeEach(() => mail.taken.splice(0));
  let lost: { account: TestAccount; erased: string; kept: string; stopped: string; optOuts: Document[] };
  const settings = () => mailSettings(mail);
  const recipients = () =>
    mail.taken.flatMap(({ to }) => (Array.isArray(to) ? to : [to])).flatMap((each) => each?.text ?? []);

  /** Creates a candidate and starts it: the first reminder is due at once. */
  async function started(client: Client, email: string): Promise<string> {
    const { body } = await client.post("/candidates", { email, documents: ["CV"] });
    expect((await client.post(`/candidates/${body.id}/start`)).status).to.equal(200);
    return body.id;
  }

  /** Opens the collection of opt-outs for a dump or a restore. */
  async function withOptOuts<T>(use: (optOuts: Collection) => Promise<T>): Promise<T> {
    const mongo = await MongoClient.connect(copies.mongoUrl());
    try {
      return await use(mongo.db().collection("opt_outs"));
    } finally {
      await mongo.close();
    }
  }

  before(
    "three reminders wait, the backup is taken, they go out; one candidate is erased, one stops them",
    async () => {
      const service = await start({ redis: "live", mongo: "live" }, settings());
      const account = await service.account();
      await admin("outreach", "pause", "--account", account.id);
      const erased = await started(account.client, "erased@example.com");
      const kept = await started(account.client, "kept@example.com");
      const stopped = await started(account.client, "stopped@example.com");
      await stop();
      copy("live", "old");

      const { url } = await start({ redis: "live", mongo: "live" }, settings());
      await admin("outreach", "resume", "--account", account.id);
      await mail.received(3);
      const client = new Client(url, account.key);
      expect((await client.request("DELETE", `/candidates/${erased}`)).status).to.equal(204);
      const message = mail.taken.find(({ to }) => [to].flat()[0]?.text === "stopped@example.com");
      const [stopLink] = /\/u\/\S+\/stop\S*/.exec(message?.text ?? "") ?? [];
      expect((await fetch(`${url}${stopLink}`, { method: "POST" })).status).to.equal(200);
      // As a dump has them a minute later, when all candidates have noted them.
      const optOuts = await withOptOuts((stored) => stored.find({}, { projection: { spreading: 0 } }).toArray());
      await stop();
      lost = { account, erased, kept, stopped, optOuts };
    },
  );

  /** Copies the present Redis and the backup of MongoDB, for one test, and starts the servers on them. */
  async function restoreTo(name: string, redisFiles = name): Promise<void> {
    copy("live", name, ["redis"]);
    copy("old", name, ["mongo"]);
    await startServers({ redis: redisFiles, mongo: name });
    await admin("outreach", "resume", "--account", lost.account.id);
  }

  it("closes every replica by itself, until its operator has replayed what was lost; then what was due waits", async () => {
    const { account, erased, kept, stopped, optOuts } = lost;
    await restoreTo("by itself");
    const replicas = await Promise.all([startReplica(settings()), startReplica(settings())]);
    for (const replica of replicas) await expectClosed(replica, account.key);
    expect(await admin("restore", "show")).to.include({ restoring: true });
    await admin("accounts", "announce");
    await admin("candidates", "erase", erased, "--yes");
    await withOptOuts((stored) => stored.insertMany(optOuts));
    await admin("restore", "end");
    const clients = replicas.map(({ url }) => new Client(url, account.key));
    const [client] = clients as [Client];
    for (const each of clients) await until(() => each.get("/limits"), isServed);
    expect((await client.get(`/candidates/${erased}`)).status).to.equal(410);
    const hasStopped = ({ body }: Answer) => body.outreach?.reason === "opted_out";
    await until(() => client.get(`/candidates/${stopped}`), hasStopped);

    await started(client, "new@example.com");
    await mail.received(1);
    const isPlanned = ({ body }: Answer) => body.outreach?.reason === "restored" || mail.taken.length > 1;
    const { body } = await until(() => client.get(`/candidates/${kept}`), isPlanned);
    expect(recipients(), "nobody gets a second mail").to.deep.equal(["new@example.com"]);
    expect(body.outreach).to.deep.equal({ next_at: null, reason: "restored" });
    expect(await admin("restore", "show")).to.include({ restoring: false, waiting: 1 });

    await admin("restore", "end", "--overdue", "send");
    await mail.received(2);
    expect(recipients()).to.deep.equal(["new@example.com", "kept@example.com"]);
    const { data } = (await admin("audit", "list")) as { data: { action: string; subject: string }[] };
    expect(data.map(({ action }) => action)).to.include("restore end");
    expect(data.find(({ action }) => action === "candidates delete")?.subject).to.equal(erased);
  });

  it("is closed by hand if Redis was lost as well, in every process; what was due can count as sent", async () => {
    const { account, erased, kept } = lost;
    await restoreTo("by hand", "an empty one");
    expect(await admin("restore", "begin")).to.include({ restoring: true });
    await admin("restore", "begin");
    const service = await startReplica({ ...settings(), REPLICAS: 2 });
    await expectClosed(service, account.key);
    await admin("accounts", "announce");
    await admin("candidates", "erase", erased, "--yes");
    const ended = Date.now();
    await admin("restore", "end", "--overdue", "skip");
    await admin("restore", "end");
    const client = new Client(service.url, account.key);
    const isSkipped = ({ body: { outreach } }: Answer) => Date.parse(outreach?.next_at ?? "") > ended;
    const { body } = await until(() => client.get(`/candidates/${kept}`), isSkipped);
    expect(body.outreach.reason).to.equal(null);
    await started(client, "new@example.com");
    await mail.received(1);
    expect(recipients()).to.deep.equal(["new@example.com"]);
    expect((await fetch(`${service.opsUrl}/readyz`)).status).to.equal(200);
  });

  it("closes replicas that run, also if it comes again after the end of a restore", async () => {
    const { account } = lost;
    copy("live", "running");
    await startServers({ redis: "running", mongo: "running" });
    const replicas = await Promise.all([startReplica(settings()), startReplica(settings())]);
    const clients = replicas.map(({ url }) => new Client(url, account.key));
    for (const again of ["once", "twice"]) {
      for (const client of clients) await until(() => client.get("/limits"), isServed);
      copy("old", again, ["mongo"]);
      await copies.replaceMongo(again);
      const isClosed = ({ body }: Answer) => body.code === "service_restoring";
      for (const client of clients) await until(() => client.get("/limits"), isClosed);
      for (const replica of replicas) await expectClosed(replica, account.key);
      await admin("outreach", "resume", "--account", account.id);
      await admin("restore", "end");
    }
    expect(recipients()).to.deep.equal([]);
  });
});
