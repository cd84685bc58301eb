import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { GrantRequest } from "../../src/grants/terms.ts";
import { limitsOf } from "../../src/limiter/surfaces.ts";
import { LoadClient } from "../support/load.ts";
import { accountWithKeys } from "../support/processes.ts";
import { problemOf } from "../limiter/support.ts";
import { createAll, REPLICAS, termsOf, useGrantReplicas } from "../grants/support.ts";

const AMOUNT = 500;
const WINDOW_SECONDS = 16;
const LIMITS = limitsOf("create", 1);

describe(`grants on ${REPLICAS} replicas`, function () {
  this.timeout((4 * WINDOW_SECONDS + 60) * 1000);
  const { replicas, service, earlyInWindow } = useGrantReplicas(WINDOW_SECONDS);
  const terms = (keyId: string, more: Partial<GrantRequest> = {}) => termsOf(keyId, { amount: AMOUNT, ...more });

  it("appear as a third policy in the headers, and end on every replica as soon as they are revoked", async () => {
    const [only] = (await accountWithKeys(replicas.first, 1)).keys;
    const { id } = await service().create(terms(only!.id));
    await earlyInWindow();
    const clients = replicas.all.map(({ url }) => new LoadClient(url, 1));
    const ask = async (replica: number) =>
      clients[replica % REPLICAS]!.send({
        method: "POST",
        path: "/candidates",
        key: only!.client.key,
        body: "{}",
      });
    for (let sent = 0; sent < LIMITS.key; sent++) expect((await ask(sent)).status).to.equal(201);
    const drawn = await ask(0);
    expect(drawn.status).to.equal(201);
    expect(drawn.headers["ratelimit-policy"]).to.match(
      new RegExp(`"key-create";q=100;w=${WINDOW_SECONDS}, "grant-create";q=${AMOUNT}$`),
    );
    expect(drawn.headers.ratelimit).to.match(new RegExp(`"key-create";r=0;t=\\d+, "grant-create";r=${AMOUNT - 1}$`));
    expect((await only!.client.get("/limits")).body).to.have.nested.property("grants[0].remaining", AMOUNT - 1);
    expect(await service().revoke(id)).to.include({ status: "revoked" });
    for (let replica = 0; replica < REPLICAS; replica++)
      expect((await ask(replica)).status, `replica ${replica}`).to.equal(429);
    expect((await only!.client.get("/limits")).body).to.have.deep.property("grants", []);
    for (const client of clients) client.close();
  });

  it("end on every replica as soon as they expire", async () => {
    const [only] = (await accountWithKeys(replicas.first, 1)).keys;
    await earlyInWindow();
    expect(await createAll(replicas, only!.client.key)).to.equal(LIMITS.key);
    const { expires_at } = await service().create(terms(only!.id, { expiresInHours: 3 / 3600 }));
    const clients = replicas.all.map(({ url }) => new LoadClient(url, 1));
    const sent: { status: number; sentAt: number; answeredAt: number }[] = [];
    await Promise.all(
      clients.map(async (client) => {
        for (let late = 0; late < 3;) {
          const sentAt = Date.now();
          const { status } = await client.send({
            method: "POST",
            path: "/candidates",
            key: only!.client.key,
            body: "{}",
          });
          sent.push({ status, sentAt, answeredAt: Date.now() });
          if (sentAt > Date.parse(expires_at)) late++;
          else await setTimeout(40);
        }
        client.close();
      }),
    );
    const end = Date.parse(expires_at); // Redis is on this machine
    expect(sent.filter(({ answeredAt }) => answeredAt < end).map(({ status }) => status))
      .to.include(201)
      .and.not.include(429);
    expect(new Set(sent.filter(({ sentAt }) => sentAt > end).map(({ status }) => status))).to.deep.equal(
      new Set([429]),
    );
  });

  it("count once if they are issued again with the same id and terms, and are refused with other terms", async () => {
    const [only] = (await accountWithKeys(replicas.first, 1)).keys;
    const same = terms(only!.id, { amount: 7, id: `grant_${only!.id}` });
    const views = await Promise.all(Array.from({ length: 10 }, () => service().create(same)));
    expect(new Set(views.map(({ id, remaining }) => `${id} ${remaining}`)).size).to.equal(1);
    await earlyInWindow();
    expect(await createAll(replicas, only!.client.key)).to.equal(LIMITS.key + 7);
    expect(await service().create(same)).to.include({ remaining: 0, status: "exhausted" });
    expect((await problemOf(service().create({ ...same, amount: 8 }))).message).to.match(/amount 7/);
    expect((await problemOf(service().create({ ...same, reason: "another" }))).message).to.match(
      /reason "the backfill of 2025"/,
    );
    expect(await createAll(replicas, only!.client.key)).to.equal(0);
  });
});
