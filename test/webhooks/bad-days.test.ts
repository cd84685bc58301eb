import { expect } from "chai";
import { ChangedAccounts } from "../../src/candidates/changed-accounts-store.ts";
import { feedPosition } from "../../src/candidates/feed-clock.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { useDatabase } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { webhookRecords } from "./records.ts";
import { simulated, type Simulated } from "./simulated.ts";

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

describe("nudges on a bad day", function () {
  this.timeout(60_000);
  const mongo = useDatabase();
  const receiver = useReceiver();
  let simulation: Simulated;
  let path: string;
  const told = () => receiver.received.filter((nudge) => nudge.path === path);
  beforeEach(async () => {
    for (const name of ["webhooks", "changed_accounts"]) await mongo.db.collection(name).deleteMany({});
    simulation = simulated(mongo, SECOND);
    path = `/${newTypeId("wh")}`;
  });

  it("tell a receiver that does each webhook-id once of a change that came while its answer was lost", async () => {
    const account = await simulation.webhook(receiver.origin + path);
    const done = new Set<unknown>();
    let mirrored = 0;
    receiver.answer(path, (response, { headers }) => {
      if (!done.has(headers["webhook-id"])) mirrored = told().length;
      done.add(headers["webhook-id"]);
      if (told().length > 1) response.writeHead(204).end();
      else void simulation.change(account).then(() => response.destroy());
    });
    await simulation.change(account);
    await simulation.until(() => mirrored === 2, 5 * MINUTE);
    expect(mirrored).to.equal(2);
  });

  it("come soon although the clock was set back by an hour", async () => {
    const account = await simulation.webhook(receiver.origin + path);
    await simulation.change(account);
    await simulation.until(async () => (await simulation.stored(account)).last !== null, MINUTE);
    await simulation.change(account);
    await simulation.until(async () => (await simulation.stored(account)).since !== null, MINUTE);
    simulation.step(-HOUR);
    await simulation.change(account);
    await simulation.until(() => told().length > 1, 2 * MINUTE);
    expect(told()).to.have.length.above(1);
  });

  it("come in 10 s although 600 webhooks of suspended accounts have something to tell", async () => {
    const accounts = Array.from({ length: 120 }, () => newTypeId("acct"));
    for (const account of accounts) simulation.suspended.add(account);
    const due = { url: `${receiver.origin}/suspended`, since: 1, due_at: simulation.now() - HOUR };
    const records = accounts.flatMap((account) => webhookRecords({ account, ...due }));
    await mongo.db.collection<{ _id: string }>("webhooks").insertMany(records);
    await simulation.change(await simulation.webhook(receiver.origin + path));
    await simulation.until(() => told().length > 0, 10 * SECOND);
    expect(told()).to.have.length(1);
  });

  it("come although another webhook, or a note, is damaged", async () => {
    const bad = await simulation.webhook(`${receiver.origin}/bad`);
    await mongo.db.collection("webhooks").updateOne({ account: bad }, { $unset: { states: 1 } });
    await mongo.db.collection("changed_accounts").insertOne({ accounts: [{ account: bad, since: 1 }], since: 1 });
    await simulation.change(bad);
    await simulation.change(await simulation.webhook(receiver.origin + path));
    await simulation.until(() => told().length > 0, 10 * SECOND).catch(() => undefined);
    expect(told()).to.have.length(1);
  });

  it("come although somebody changed the webhook while a change was noted in it", async () => {
    const account = await simulation.webhook(receiver.origin + path);
    const { store } = simulation;
    const updateAll = store.updateAll.bind(store);
    store.updateAll = async (all) => {
      store.updateAll = updateAll;
      for (const { webhook } of all) await store.change(account, webhook.id, () => ({ description: "changed" }));
      return updateAll(all);
    };
    await simulation.change(account);
    await simulation.until(() => told().length > 0, MINUTE);
    expect(told()).to.have.length(1);
  });

  it("come for a change that nobody noted, if another process says that one has died", async () => {
    const account = await simulation.webhook(receiver.origin + path);
    const candidate = { account, change: feedPosition(simulation.now()) };
    await mongo.db.collection("candidates").insertOne(candidate);
    await new ChangedAccounts(mongo).noteDeath("dead", simulation.now() - SECOND);
    const notes = mongo.db.collection("changed_accounts");
    await simulation.until(async () => told().length > 0 && (await notes.countDocuments()) === 0, MINUTE);
    expect(told()).to.have.length(1);
    expect(await notes.countDocuments()).to.equal(0);
  });
});
