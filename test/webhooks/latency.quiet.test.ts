import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import pLimit from "p-limit";
import { WebhookStore } from "../../src/webhooks/store.ts";
import { quantileOf } from "../bench/stats.ts";
import { LoadClient } from "../support/load.ts";
import { useReplicas } from "../support/use-service.ts";
import { until } from "../erasure/support.ts";
import { useReceiver } from "./receiver.ts";
import { webhookRecord } from "./records.ts";

const REPLICAS = 4;
const WEBHOOKS = 1_000;
const WRITES_A_SECOND = 50;
/** A webhook gets at most one nudge in 31 s. A change that comes after this pause is told at once. In milliseconds. */
const PAUSE_MS = 32_000;
const ROUNDS = Number(process.env.NUDGE_ROUNDS ?? 2);
const MAX_P99_MS = 2_000;

describe("1,000 webhooks, and 50 writes a second on 4 replicas", function () {
  this.timeout(600_000);
  const replicas = useReplicas(REPLICAS, { LIMIT_SCALE: 1_000 });
  const receiver = useReceiver();

  it(`have a nudge on its way within ${MAX_P99_MS} ms of the write's answer, in 99 of 100 cases`, async () => {
    const { first } = replicas;
    const { mongo } = first.operators;
    const store = new WebhookStore(mongo);
    const accounts = await pLimit(8).map(Array.from({ length: WEBHOOKS }), async () => {
      const account = await first.account();
      const candidate = await account.client.post("/candidates", {});
      return { ...account, path: `/candidates/${candidate.body.id}` };
    });
    const notes = mongo.db.collection("changed_accounts");
    await wait(2_000); // each replica notes once a second what it has written
    await until(async () => (await notes.countDocuments()) === 0);
    for (const { id } of accounts) await store.insert(webhookRecord({ account: id, url: `${receiver.origin}/${id}` }));
    const clients = replicas.all.map(({ url }) => new LoadClient(url, 20));
    const took: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const begun = performance.now();
      const told: Promise<void>[] = [];
      for (const [n, { id, key, path }] of accounts.entries()) {
        await wait(Math.max(0, begun + (n * 1000) / WRITES_A_SECOND - performance.now()));
        const body = JSON.stringify({ name: `Ada ${round}` });
        const request = { method: "PATCH", path, key, body, headers: { "content-type": "application/json" } } as const;
        const written = clients[n % REPLICAS]!.send(request).then(({ status }) => {
          expect(status).to.equal(200);
          return performance.now();
        });
        const arrived = receiver.nudges(`/${id}`, round).then((all) => all.at(-1)?.at ?? NaN);
        told.push(Promise.all([written, arrived]).then(([from, to]) => void took.push(to - from)));
      }
      await Promise.all(told);
      await wait(Math.max(0, begun + (WEBHOOKS * 1000) / WRITES_A_SECOND + PAUSE_MS - performance.now()));
    }
    for (const client of clients) client.close();
    const sorted = took.toSorted((one, other) => one - other);
    const figures = [0.5, 0.9, 0.99, 1].map((q) => Math.round(quantileOf(sorted, q)));
    console.log(`        median, p90, p99, longest: ${figures.join(", ")} ms of ${sorted.length}`);
    expect(receiver.received).to.have.length(WEBHOOKS * ROUNDS);
    expect(quantileOf(sorted, 0.99)).to.be.below(MAX_P99_MS);
  });
});
