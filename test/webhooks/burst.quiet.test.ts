import { expect } from "chai";
import pLimit from "p-limit";
import type { ChangeNote } from "../../src/candidates/changed-accounts-store.ts";
import { WebhookStore } from "../../src/webhooks/store.ts";
import { useReplicas } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { webhookRecord } from "./records.ts";

const ACCOUNTS = 600;
const WITHIN_MS = 10_000;

describe(`${ACCOUNTS} accounts that change in the same second, as documents expire at midnight`, function () {
  this.timeout(120_000);
  const replicas = useReplicas(1);
  const receiver = useReceiver();

  it(`are told within ${WITHIN_MS / 1000} s, if their receivers are quick`, async () => {
    const { accounts, mongo } = replicas.first.operators;
    const store = new WebhookStore(mongo);
    const ids = await pLimit(8).map(Array.from({ length: ACCOUNTS }), async () => {
      const { id: account } = await accounts.createAccount({ name: "Test" });
      await store.insert(webhookRecord({ account, url: `${receiver.origin}/all`, quick: true }));
      return account;
    });
    const since = Date.now();
    const changed = ids.map((account) => ({ account, since, states: [] }));
    await mongo.db.collection<ChangeNote>("changed_accounts").insertOne({ _id: "note_1", accounts: changed, since });
    const begun = performance.now();
    const all = await receiver.nudges("/all", ACCOUNTS);
    console.log(`        the last after ${Math.round(all[ACCOUNTS - 1]!.at - begun)} ms`);
    expect(all[ACCOUNTS - 1]!.at - begun).to.be.below(WITHIN_MS);
  });
});
