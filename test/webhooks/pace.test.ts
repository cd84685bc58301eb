import { expect } from "chai";
import { useDatabase } from "../support/use-service.ts";
import { type Received, useReceiver } from "./receiver.ts";
import { simulated } from "./simulated.ts";

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
/** Before the retries. */
const PAUSES = [5 * SECOND, 5 * MINUTE, HOUR / 2, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)];

describe("the pace of nudges", function () {
  this.timeout(60_000);
  const mongo = useDatabase();
  const receiver = useReceiver();
  const bodyOf = ({ body }: Received) => JSON.parse(body) as { timestamp: string; data: { since: string } };
  const timesAt = async (path: string) =>
    (await receiver.nudges(path, 1)).map((nudge) => Date.parse(bodyOf(nudge).timestamp));
  const gapsOf = (times: readonly number[]) => times.slice(1).map((at, n) => at - (times[n] ?? at));

  it("is 3 for 10,000 changes in a minute: the first at once, the last after the last change; none for who has none", async () => {
    const simulation = simulated(mongo, SECOND);
    const idle = await simulation.webhook(`${receiver.origin}/idle`);
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
    await simulation.until(async () => (await simulation.stored(account)).due_at === null, 2 * MINUTE);
    const times = await timesAt("/burst");
    expect(times).to.have.length(3);
    expect(times[0]).to.be.at.most(begun + 2 * SECOND);
    expect(times.at(-1)).to.be.at.least(last);
    expect(await simulation.stored(idle)).to.include({ last: null, sent_at: 0 });
  });

  it("is in an hour of steady changes what one key may list, and never two in 30 s", async () => {
    const simulation = simulated(mongo, 15 * SECOND); // two steps that do not know yet what is due are within the pace
    const account = await simulation.webhook(`${receiver.origin}/steady`);
    await simulation.until(
      () => false,
      HOUR,
      () => simulation.change(account),
    );
    const times = await timesAt("/steady");
    expect(times.length, "each as soon as it may").to.be.within(114, 120);
    expect(Math.min(...gapsOf(times))).to.be.at.least(30 * SECOND);
  });

  it("is that of the retry while one waits, which tells of later changes too, since the first of them all", async () => {
    const simulation = simulated(mongo, 5 * SECOND);
    const account = await simulation.webhook(`${receiver.origin}/joins`);
    let isUp = false;
    receiver.answer("/joins", (response) => response.writeHead(isUp ? 200 : 500).end());
    const first = simulation.now();
    await simulation.change(account);
    await simulation.until(
      async () => (await simulation.stored(account)).tries === 2,
      MINUTE,
      () => simulation.change(account),
    );
    isUp = true;
    await simulation.until(async () => (await simulation.stored(account)).due_at === null, 20 * MINUTE);
    const nudges = await receiver.nudges("/joins", 3);
    expect(new Set(nudges.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
    expect(nudges.map((nudge) => Date.parse(bodyOf(nudge).data.since))).to.deep.equal([first, first, first]);
    const times = new Set(nudges.map(({ headers }) => headers["webhook-timestamp"]));
    expect(times.size, "each attempt is signed with its own time").to.equal(3);
  });

  it("is slower and slower if none is taken, and in the end the webhook is disabled", async () => {
    const simulation = simulated(mongo, 30 * HOUR);
    receiver.answer("/down", (response) => response.writeHead(503).end());
    const account = await simulation.webhook(`${receiver.origin}/down`);
    await simulation.change(account);
    await simulation.until(async () => (await simulation.stored(account)).disabled !== null, 100 * HOUR);
    const gaps = gapsOf(await timesAt("/down"));
    expect(gaps).to.have.length(PAUSES.length);
    for (const [n, pause] of PAUSES.entries()) expect(gaps[n]).to.be.within(pause, pause * 1.1 + 5 * SECOND);
    const { id, disabled } = await simulation.stored(account);
    expect(disabled).to.include({ reason: "failing" });
    expect(simulation.audited).to.have.length(1);
    const entry = { action: "webhooks disabled", subject: id, details: { reason: "failing" } };
    expect(simulation.audited[0]).to.deep.include(entry);
    await simulation.change(account);
    await simulation.until(() => false, 10 * MINUTE);
    expect(gapsOf(await timesAt("/down"))).to.deep.equal(gaps);
  });
});
