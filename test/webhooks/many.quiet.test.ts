import { expect } from "chai";
import { newTypeId } from "../../src/infra/ids.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { MAX_WEBHOOKS, WebhookStore } from "../../src/webhooks/store.ts";
import { useDatabase } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { webhookRecords } from "./records.ts";
import { simulated } from "./simulated.ts";

const HOUR_MS = 3_600_000;
const WEBHOOKS = 10_000;
/** As many as change between two looks if 50 writes a second come. */
const CHANGED = 13;
const LOOKS = 100;

describe("10,000 webhooks, a tenth of them dead for days", function () {
  this.timeout(300_000);
  const mongo = useDatabase();
  const receiver = useReceiver();

  it("are looked at in less than a second, with one index", async () => {
    await createIndexes(mongo.db, [new WebhookStore(mongo)]);
    const accounts = Array.from({ length: WEBHOOKS / MAX_WEBHOOKS }, () => newTypeId("acct"));
    const records = accounts.flatMap((account, n) => {
      const dead = { tries: 6, telling: 1, message: "msg_dead", due_at: Date.now() + (10 + (n % 10)) * HOUR_MS };
      return webhookRecords({ account, url: `${receiver.origin}/all`, ...(n % 10 === 0 ? dead : { quick: true }) });
    });
    for (let n = 0; n < records.length; n += 1_000)
      await mongo.db.collection<{ _id: string }>("webhooks").insertMany(records.slice(n, n + 1_000));
    expect(await mongo.db.collection("webhooks").indexes()).to.have.length(2); // one, and _id

    const simulation = simulated(mongo, 1_000);
    const took: number[] = [];
    let began = 0;
    let changed = 0;
    await simulation.until(
      () => took.length >= LOOKS,
      HOUR_MS,
      async () => {
        if (began !== 0) took.push(performance.now() - began);
        for (let n = 0; n < CHANGED; n++) await simulation.change(accounts[changed++ % accounts.length] ?? "");
        began = performance.now();
      },
    );
    const longest = Math.max(...took);
    console.log(`        longest look ${Math.round(longest)} ms of ${took.length}, ${receiver.received.length} nudges`);
    expect(longest).to.be.below(1_000);
  });
});
