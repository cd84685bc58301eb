import { expect } from "chai";
import { useDatabase } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { simulated } from "./simulated.ts";

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const PAUSES = [5 * SECOND, 5 * MINUTE, HOUR / 2, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];

describe("a nudge that is not taken", function () {
  this.timeout(60_000);
  const mongo = useDatabase();
  const receiver = useReceiver();

  it("is tried again after longer and longer pauses with the same id, and then no more", async () => {
    const simulation = simulated(mongo, 30 * HOUR);
    const attempts: number[] = [];
    receiver.answer("/down", (response) => {
      attempts.push(simulation.now());
      response.writeHead(503).end();
    });
    const account = await simulation.webhook(`${receiver.origin}/down`);
    await simulation.change(account);
    const webhook = async () => (await simulation.store.of(account))[0]!;
    await simulation.until(async () => (await webhook()).disabled !== null, 100 * HOUR);
    const gaps = attempts.map((at, n) => at - (attempts[n - 1] ?? at)).slice(1);
    expect(gaps).to.have.length(PAUSES.length);
    for (const [n, pause] of PAUSES.entries()) expect(gaps[n]).to.be.within(pause, pause * 1.1 + 5 * SECOND);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).to.have.property("size", 1);
    expect((await webhook()).disabled).to.include({ reason: "failing" });
    const { id } = await webhook();
    expect(simulation.audited).to.have.length(1);
    expect(simulation.audited[0]).to.deep.include({
      action: "webhooks disabled",
      subject: id,
      details: { reason: "failing" },
    });
    await simulation.change(account);
    const count = attempts.length;
    await simulation.until(() => false, 10 * MINUTE);
    expect(attempts).to.have.length(count);
  });
});
