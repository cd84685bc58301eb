import { expect } from "chai";
import { useDatabase } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { simulated } from "./simulated.ts";

const [SECOND, MINUTE] = [1_000, 60_000];

describe("nudges of many changes", function () {
  this.timeout(60_000);
  const mongo = useDatabase();
  const receiver = useReceiver();
  const bodyOf = ({ body }: { body: string }) => JSON.parse(body) as { timestamp: string; data: { since: string } };

  it("are 3 for 10,000 changes in a minute, the first at once and the last after the last change", async () => {
    const simulation = simulated(mongo, SECOND);
    const account = await simulation.webhook(`${receiver.origin}/burst`);
    const begun = simulation.now();
    let last = 0;
    // So that changes come while a nudge is under way.
    receiver.answer("/burst", (response) => void setTimeout(() => response.writeHead(200).end(), 200));
    await simulation.until(
      () => false,
      MINUTE,
      async () => {
        await simulation.change(account, 170);
        last = simulation.now();
      },
    );
    await simulation.until(() => false, 2 * MINUTE);
    const times = receiver.received.map((nudge) => Date.parse(bodyOf(nudge).timestamp) - begun);
    expect(times).to.have.length(3);
    expect(times[0]).to.be.at.most(2 * SECOND);
    expect(times.at(-1)).to.be.at.least(last - begun);
  });

  it("that come while a retry waits are told of by the retry, whose since is the first of them all", async () => {
    const simulation = simulated(mongo, 5 * SECOND);
    const account = await simulation.webhook(`${receiver.origin}/joins`);
    let isUp = false;
    receiver.answer("/joins", (response) => response.writeHead(isUp ? 200 : 500).end());
    const first = simulation.now();
    await simulation.change(account);
    const webhook = async () => (await simulation.store.of(account))[0]!;
    await simulation.until(
      async () => (await webhook()).tries === 2,
      MINUTE,
      () => simulation.change(account),
    );
    isUp = true;
    await simulation.until(async () => (await webhook()).due_at === null, 20 * MINUTE);
    await simulation.until(() => false, 2 * MINUTE);
    const nudges = await receiver.nudges("/joins", 3);
    expect(new Set(nudges.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
    expect(nudges.map((nudge) => Date.parse(bodyOf(nudge).data.since))).to.deep.equal([first, first, first]);
    const times = new Set(nudges.map(({ headers }) => headers["webhook-timestamp"]));
    expect(times.size, "each attempt is signed with its own time").to.equal(3);
  });

  it("that nobody has made are none: an account whose candidates do not change is left alone", async () => {
    const simulation = simulated(mongo, MINUTE);
    const [idle, other] = [
      await simulation.webhook(`${receiver.origin}/idle`),
      await simulation.webhook(`${receiver.origin}/other`),
    ];
    await simulation.until(
      () => false,
      30 * MINUTE,
      () => simulation.change(other),
    );
    expect((await simulation.store.of(idle))[0]).to.include({ last: null, sent_at: 0 });
    expect(receiver.received.filter(({ path }) => path === "/idle")).to.deep.equal([]);
    expect(receiver.received.filter(({ path }) => path === "/other").length).to.be.above(20);
  });
});
