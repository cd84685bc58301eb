import { expect } from "chai";
import { accountWithKeys } from "../support/processes.ts";
import { hammer } from "../support/replicas.ts";
import { termsOf, useGrantReplicas } from "./support.ts";

describe("a flood of refusals on several replicas", function () {
  this.timeout(60_000);
  const { replicas, service } = useGrantReplicas(86_400);

  it("ends on all of them once a grant is issued", async () => {
    const { keys } = await accountWithKeys(replicas.first, 1);
    const [{ id: keyId, client }] = keys as [(typeof keys)[number]];
    const load = hammer(replicas, [client.key], ["/candidates"]);
    const isFlood = () => load.samples.slice(-100).filter(({ status }) => status === 429).length === 100;
    while (!isFlood()) await load.answeredAll();
    await service().create(termsOf(keyId, { surface: "list", amount: 1_000_000 }));
    const issuedAt = performance.now();
    await load.answeredAll();
    await load.stop();
    const after = load.samples.filter(({ sentAt }) => sentAt >= issuedAt);
    expect(new Set(after.map(({ replica }) => replica)).size).to.equal(replicas.all.length);
    expect(after.filter(({ status }) => status !== 200)).to.deep.equal([]);
    const before = load.samples.filter(({ answeredAt }) => answeredAt < issuedAt);
    expect(before.length, "requests before the grant").to.be.above(200);
  });
});
