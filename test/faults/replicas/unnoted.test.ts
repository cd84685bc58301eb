import { expect } from "chai";
import { setTimeout as wait } from "node:timers/promises";
import { newAccount } from "../../support/service.ts";
import { useReplicas } from "../../support/use-service.ts";
import { useReceiver } from "../../webhooks/receiver.ts";

/** Until another process has the lease, notices that one is silent, and looks in the feed. */
const MAX_MS = 25_000;

/** Until another process has the lease. */
const MAX_AFTER_STOP_MS = 15_000;

describe("a change of a process that has not noted it", function () {
  this.timeout(90_000);
  const replicas = useReplicas(3);
  const receiver = useReceiver();

  it("is told by another one if the process is stopped at once", async () => {
    const third = replicas.all[2];
    const { client } = await newAccount(replicas.first.operators, third!.url);
    await client.post("/webhooks", { url: `${receiver.origin}/stopped` });
    const nudge = receiver.nudges("/stopped", 1);
    const written = await client.post("/candidates", {});
    third!.child.kill("SIGTERM");
    expect(written.status).to.equal(201);
    expect(await Promise.race([nudge, wait(MAX_AFTER_STOP_MS, [], { ref: false })])).to.have.length(1);
  });

  it("is told all the same if the process is killed, and only to the account that has changed", async () => {
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
    const told = receiver.received.map(({ path }) => path);
    expect(told).to.deep.equal(["/stopped", "/changed"]);
  });
});
