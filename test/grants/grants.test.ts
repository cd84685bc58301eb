import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { GrantRequest } from "../../src/grants/terms.ts";
import { limitsOf } from "../../src/limiter/surfaces.ts";
import { LoadClient } from "../support/load.ts";
import { accountWithKeys } from "../support/processes.ts";
import { earlyInWindow, problemOf, useTestRedis } from "../limiter/support.ts";
import { useReplicas } from "../support/use-service.ts";

const REPLICAS = 4;
/** `GRANT_AMOUNT=5000` is the backfill of the example in interface.md. It takes minutes. */
const AMOUNT = Number(process.env.GRANT_AMOUNT ?? 500);
const WINDOW_SECONDS = AMOUNT > 1000 ? 60 : 16;
const LIMITS = limitsOf("create", 1);

describe(`grants on ${REPLICAS} replicas`, function () {
  this.timeout((4 * WINDOW_SECONDS + 60) * 1000);
  const redis = useTestRedis();
  const replicas = useReplicas(REPLICAS, {
    LIMIT_WINDOW_SECONDS: WINDOW_SECONDS,
    LIMITER_TIMEOUT_MS: 10_000,
    STORE_TIMEOUT_MS: 30_000,
  });

  const service = () => replicas.first.operators.grants;
  const terms = (keyId: string, more: Partial<GrantRequest> = {}): GrantRequest => ({
    keyId,
    surface: "create",
    amount: AMOUNT,
    expiresInHours: 24,
    approvedBy: "Ann",
    reason: "the backfill of 2025",
    ...more,
  });

  /**
   * Creates candidates through all replicas at once. Each lane stops after five refusals.
   * @param max requests after which it stops.
   * @param notBefore refusals before this time, in ms since the epoch, are not counted.
   * @returns the number of candidates created.
   */
  async function createAll(key: string, { max = Infinity, notBefore = 0 } = {}): Promise<number> {
    let sent = 0;
    let created = 0;
    const lane = async (client: LoadClient) => {
      for (let refused = 0; refused < 5 && sent < max;) {
        sent++;
        const { status } = await client.send({ method: "POST", path: "/candidates", key, body: "{}" });
        expect(status).to.be.oneOf([201, 429]);
        if (status === 201) created++;
        else if (Date.now() > notBefore) refused++;
      }
    };
    const clients = replicas.all.map(({ url }) => new LoadClient(url, 4));
    await Promise.all(clients.flatMap((client) => Array.from({ length: 4 }, () => lane(client))));
    for (const client of clients) client.close();
    return created;
  }

  it(`give their key exactly ${AMOUNT} beyond its limits and other keys exactly their limits, across a window's edge`, async () => {
    const { id, keys: made } = await accountWithKeys(replicas.first, 2);
    const [granted, other] = made.map(({ client }) => client.key);
    await service().create(terms(made[0]!.id));
    await earlyInWindow(redis, WINDOW_SECONDS);
    const length = WINDOW_SECONDS * 1000;
    const edge = (Math.floor(Date.now() / length) + 1) * length; // Redis is on this machine

    // In the first window half of the grant is drawn, and the account's other key uses exactly its own limit.
    const half = AMOUNT / 2;
    const before = await Promise.all([createAll(granted!, { max: LIMITS.key + half }), createAll(other!)]);
    expect(before).to.deep.equal([LIMITS.key + half, LIMITS.key]);
    expect((await service().list(id)).data[0]).to.include({ remaining: half, status: "live" });

    // The other half is drawn on both sides of the edge.
    await setTimeout(edge - Date.now() - 100);
    const after = await Promise.all([
      createAll(granted!, { notBefore: edge + 500 }),
      createAll(other!, { notBefore: edge + 500 }),
    ]);
    expect(Date.now(), "all in two windows").to.be.below(edge + length);
    expect(after).to.deep.equal([LIMITS.key + half, LIMITS.key]);
    expect((await service().list(id)).data[0]).to.include({ remaining: 0, status: "exhausted" });
  });

  it("appear as a third policy in the headers, and end on every replica as soon as they are revoked", async () => {
    const [only] = (await accountWithKeys(replicas.first, 1)).keys;
    const { id } = await service().create(terms(only!.id));
    await earlyInWindow(redis, WINDOW_SECONDS);
    const clients = replicas.all.map(({ url }) => new LoadClient(url, 1));
    const ask = async (replica: number) =>
      clients[replica % REPLICAS]!.send({
        method: "POST",
        path: "/candidates?dry_run=true",
        key: only!.client.key,
        body: "{}",
      });
    for (let sent = 0; sent < LIMITS.key; sent++) expect((await ask(sent)).status).to.equal(200);
    const drawn = await ask(0);
    expect(drawn.status).to.equal(200);
    expect(drawn.headers["ratelimit-policy"]).to.match(
      new RegExp(`"key";q=100;w=${WINDOW_SECONDS}, "grant";q=${AMOUNT}$`),
    );
    expect(drawn.headers.ratelimit).to.match(new RegExp(`"key";r=0;t=\\d+, "grant";r=${AMOUNT - 1}$`));
    expect((await only!.client.get("/limits")).body).to.have.nested.property("grants[0].remaining", AMOUNT - 1);
    expect(await service().revoke(id)).to.include({ status: "revoked" });
    for (let replica = 0; replica < REPLICAS; replica++)
      expect((await ask(replica)).status, `replica ${replica}`).to.equal(429);
    expect((await only!.client.get("/limits")).body).to.have.deep.property("grants", []);
    for (const client of clients) client.close();
  });

  it("end on every replica as soon as they expire", async () => {
    const [only] = (await accountWithKeys(replicas.first, 1)).keys;
    await earlyInWindow(redis, WINDOW_SECONDS);
    expect(await createAll(only!.client.key)).to.equal(LIMITS.key);
    const { expires_at } = await service().create(terms(only!.id, { expiresInHours: 3 / 3600 }));
    const clients = replicas.all.map(({ url }) => new LoadClient(url, 1));
    const sent: { status: number; sentAt: number; answeredAt: number }[] = [];
    await Promise.all(
      clients.map(async (client) => {
        for (let late = 0; late < 3;) {
          const sentAt = Date.now();
          const { status } = await client.send({
            method: "POST",
            path: "/candidates?dry_run=true",
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
      .to.include(200)
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
    await earlyInWindow(redis, WINDOW_SECONDS);
    expect(await createAll(only!.client.key)).to.equal(LIMITS.key + 7);
    expect(await service().create(same)).to.include({ remaining: 0, status: "exhausted" });
    expect((await problemOf(service().create({ ...same, amount: 8 }))).message).to.match(/amount 7/);
    expect((await problemOf(service().create({ ...same, reason: "another" }))).message).to.match(
      /reason "the backfill of 2025"/,
    );
    expect(await createAll(only!.client.key)).to.equal(0);
  });
});
