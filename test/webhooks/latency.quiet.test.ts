import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import pLimit from "p-limit";
import type { ChangeNote } from "../../src/candidates/changed-accounts-store.ts";
import { quantileOf } from "../bench/stats.ts";
import { until } from "../erasure/support.ts";
import { LoadClient } from "../support/load.ts";
import { useReplicas } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { webhookRecord } from "./records.ts";

const REPLICAS = 4;
const WEBHOOKS = 1_000;
const WRITES_A_SECOND = 50;
const MAX_P99_MS = 2_000;
/** Number of accounts that change in the same second, as documents expire at midnight. */
const AT_ONCE = 600;
const MAX_AT_ONCE_MS = 10_000;

describe("1,000 webhooks on 4 replicas", function () {
  this.timeout(600_000);
  const replicas = useReplicas(REPLICAS, { LIMIT_SCALE: 1_000 });
  const receiver = useReceiver();
  const collection = <T extends { _id: string }>(name: string) => replicas.first.operators.mongo.db.collection<T>(name);
  let accounts: { id: string; key: string; path: string }[] = [];

  before(async () => {
    accounts = await pLimit(8).map(Array.from({ length: WEBHOOKS }), async () => {
      const { id, key, client } = await replicas.first.account();
      const candidate = await client.post("/candidates", {});
      return { id, key, path: `/candidates/${candidate.body.id}` };
    });
    await wait(2_000); // each replica notes once a second what it has written
    await until(async () => (await collection("changed_accounts").countDocuments()) === 0);
    const records = accounts.map(({ id }) => webhookRecord({ account: id, url: `${receiver.origin}/${id}` }));
    await collection("webhooks").insertMany(records);
  });

  it(`have a nudge on its way within ${MAX_P99_MS} ms of the write's answer, in 99 of 100 cases of ${WRITES_A_SECOND} writes a second`, async () => {
    const clients = replicas.all.map(({ url }) => new LoadClient(url, 20));
    const begun = performance.now();
    const told: Promise<number>[] = [];
    for (const [n, { id, key, path }] of accounts.entries()) {
      await wait(Math.max(0, begun + (n * 1000) / WRITES_A_SECOND - performance.now()));
      const request = { method: "PATCH", path, key, body: '{"name":"Ada"}' } as const;
      const headers = { "content-type": "application/json" };
      const written = clients[n % REPLICAS]!.send({ ...request, headers }).then(({ status }) => {
        expect(status).to.equal(200);
        return performance.now();
      });
      const arrived = receiver.nudges(`/${id}`, 1).then(([first]) => first?.at ?? NaN);
      told.push(Promise.all([written, arrived]).then(([from, to]) => to - from));
    }
    const took = (await Promise.all(told)).toSorted((one, other) => one - other);
    for (const client of clients) client.close();
    const figures = [0.5, 0.9, 0.99, 1].map((q) => Math.round(quantileOf(took, q)));
    console.log(`        median, p90, p99, longest: ${figures.join(", ")} ms`);
    expect(receiver.received).to.have.length(WEBHOOKS);
    expect(quantileOf(took, 0.99)).to.be.below(MAX_P99_MS);
  });

  it(`are told within ${MAX_AT_ONCE_MS / 1000} s if ${AT_ONCE} accounts change in the same second, and their receivers are quick`, async () => {
    await collection("webhooks").updateMany({}, { $set: { quick: true, sent_at: 0 } });
    const since = Date.now();
    const changed = accounts.slice(0, AT_ONCE).map(({ id }) => ({ account: id, since, states: [] }));
    const begun = performance.now();
    await collection<ChangeNote>("changed_accounts").insertOne({ _id: "note_1", accounts: changed, since });
    const all = await Promise.all(changed.map(({ account }) => receiver.nudges(`/${account}`, 2)));
    const longest = Math.max(...all.map((nudges) => nudges[1]?.at ?? Infinity)) - begun;
    console.log(`        the last after ${Math.round(longest)} ms`);
    expect(longest).to.be.below(MAX_AT_ONCE_MS);
  });
});
