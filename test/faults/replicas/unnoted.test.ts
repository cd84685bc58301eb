import { expect } from "chai";
import { setTimeout as wait } from "node:timers/promises";
import { newAccount } from "../../support/service.ts";
import { useReplicas } from "../../support/use-service.ts";
import { useReceiver } from "../../webhooks/receiver.ts";

/** Until another process has the lease, notices that one is silent, and looks in the feed. */
const MAX_MS = 25_000;

describe("a change of a process that is killed before it has noted it", function () {
  this.timeout(90_000);
  const replicas = useReplicas(2);
  const receiver = useReceiver();

  it("is told all the same, and only to the account that has changed", async () => {
    const [first, second] = replicas.all;
    const account = await newAccount(replicas.first.operators, first!.url);
    const other = await newAccount(replicas.first.operators, second!.url);
    const candidate = await account.client.post("/candidates", {});
    await other.client.post("/candidates", {});
    const notes = replicas.first.operators.mongo.db.collection("changed_accounts");
    do await wait(1_500);
    while ((await notes.countDocuments()) > 0);
    await account.client.post("/webhooks", { url: `${receiver.origin}/changed` });
    await other.client.post("/webhooks", { url: `${receiver.origin}/unchanged` });
    const nudge = receiver.nudges("/changed", 1);
    const written = await account.client.patch(`/candidates/${candidate.body.id}`, { name: "Ada" });
    first!.child.kill("SIGKILL");
    expect(written.status).to.equal(200);
    const begun = performance.now();
    await Promise.race([nudge, wait(MAX_MS, undefined, { ref: false })]);
    console.log(`        told after ${Math.round((performance.now() - begun) / 100) / 10} s`);
    expect(receiver.received.map(({ path }) => path)).to.deep.equal(["/changed"]);
  });
});
