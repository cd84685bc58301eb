import { expect } from "chai";
import { useAccount, useDatabase, useService } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { simulated } from "./simulated.ts";

const HOUR_MS = 3_600_000;
const STEP_MS = 10_000;

describe("a receiver that lists at each nudge, for an hour of steady changes", function () {
  this.timeout(120_000);
  const mongo = useDatabase();
  const { client } = useAccount(useService());
  const receiver = useReceiver();

  it("stays within the limit of its key, and is told of every change in 30 s and a moment", async () => {
    const simulation = simulated(mongo, STEP_MS);
    const statuses: number[] = [];
    const told: number[] = [];
    receiver.answer("/lists", (response) => {
      told.push(simulation.now());
      void client.get("/candidates?limit=1").then(({ status }) => {
        statuses.push(status);
        response.writeHead(204).end();
      });
    });
    const account = await simulation.webhook(`${receiver.origin}/lists`);
    const change = () => simulation.change(account);
    await simulation.until(() => false, HOUR_MS, change);
    await simulation.until(async () => (await simulation.store.of(account))[0]?.due_at === null, 60_000);
    expect(statuses.filter((status) => status !== 200)).to.deep.equal([]);
    const gaps = told.map((at, n) => at - (told[n - 1] ?? at)).slice(1);
    expect(Math.min(...gaps), "never two in 30 s").to.be.at.least(30_000);
    expect(told.length, "each as soon as it may").to.be.within(114, 120);
  });
});
