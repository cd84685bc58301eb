import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { limitsOf } from "../../src/limiter/surfaces.ts";
import { createAll, REPLICAS, termsOf, useGrantReplicas } from "../grants/support.ts";
import { accountWithKeys } from "../support/processes.ts";
import { sizeOf } from "./size.ts";

/** `GRANT_AMOUNT=5000` is the backfill of the example in interface.md. It takes minutes. */
const AMOUNT = sizeOf("GRANT_AMOUNT", { small: 100, full: 500 });
/** Long enough for a busy machine to create half of the grant in the first window, and to end in the second. */
const WINDOW_SECONDS = AMOUNT > 1000 ? 120 : AMOUNT > 100 ? 40 : 20;
const LIMITS = limitsOf("create", 1);

describe(`grants on ${REPLICAS} replicas, across a window's edge`, function () {
  this.timeout((4 * WINDOW_SECONDS + 60) * 1000);
  const { replicas, service, earlyInWindow } = useGrantReplicas(WINDOW_SECONDS);

  it(`give their key exactly ${AMOUNT} beyond its limits and other keys exactly their limits`, async () => {
    const { id, keys: made } = await accountWithKeys(replicas.first, 2);
    const [granted, other] = made.map(({ client }) => client.key);
    await service().create(termsOf(made[0]!.id, { amount: AMOUNT }));
    await earlyInWindow();
    const length = WINDOW_SECONDS * 1000;
    const edge = (Math.floor(Date.now() / length) + 1) * length; // Redis is on this machine

    // In the first window half of the grant is drawn, and the account's other key uses exactly its own limit.
    const half = AMOUNT / 2;
    const before = await Promise.all([
      createAll(replicas, granted!, { max: LIMITS.key + half }),
      createAll(replicas, other!),
    ]);
    expect(before).to.deep.equal([LIMITS.key + half, LIMITS.key]);
    expect((await service().list(id)).data[0]).to.include({ remaining: half, status: "live" });

    // The other half is drawn on both sides of the edge.
    await setTimeout(edge - Date.now() - 100);
    const after = await Promise.all([
      createAll(replicas, granted!, { notBefore: edge + 500 }),
      createAll(replicas, other!, { notBefore: edge + 500 }),
    ]);
    expect(Date.now(), "all in two windows").to.be.below(edge + length);
    expect(after).to.deep.equal([LIMITS.key + half, LIMITS.key]);
    expect((await service().list(id)).data[0]).to.include({ remaining: 0, status: "exhausted" });
  });
});
