import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { Candidate } from "../../../src/candidates/schema.ts";
import { LoadClient } from "../../support/load.ts";
import { type ShiftedRedis, startShiftedRedis } from "../../support/shifted-redis.ts";
import { BusyAccount } from "./account.ts";
import { clearOfTheEdge } from "./edge.ts";
import { missedBy, Mirror } from "./feed.ts";
import { type Fleet, startFleet } from "./fleet.ts";

const REPLICAS = 2;
const LEAP_S = 300;
const LEAPT = { NODE_OPTIONS: "--import ./test/faults/replicas/shifted-clock.mjs", SHIFT_CLOCK_MS: `${LEAP_S * 1000}` };
/** The leap must not end the window, nor may the tests' own time, in milliseconds. */
const ROOM_MS = (LEAP_S + 150) * 1000;
/** After a step of a clock, leases, reminders and mirrors go on within this time, in milliseconds. */
const GO_ON_WITHIN_MS = 30_000;

describe("a clock that leaps five minutes ahead and is put right", function () {
  this.timeout(120_000);
  let redis: ShiftedRedis;
  let fleet: Fleet;
  let load: LoadClient;
  let account: BusyAccount;
  let mirror: Mirror;
  let rows: Candidate[];

  before(function () {
    this.timeout(2 * ROOM_MS);
    return clearOfTheEdge(ROOM_MS);
  });
  beforeEach(async () => {
    redis = await startShiftedRedis(process.env.REDIS_URL!);
  });
  afterEach(async () => {
    load.close();
    await fleet.stop();
    redis.close();
  });

  async function start(environments: NodeJS.ProcessEnv[] = []): Promise<void> {
    fleet = await startFleet(
      REPLICAS,
      { REDIS_URL: redis.url, LIMIT_SCALE: 10, STORE_TIMEOUT_MS: 2_000 },
      { environments },
    );
    account = await BusyAccount.make(fleet.operators, 1);
    load = new LoadClient(fleet.url, 4, false);
    rows = [];
    mirror = new Mirror(load, account.key, (row) => rows.push(row));
  }

  /** Creates so many candidates, one after the other, by both replicas in turn. */
  async function create(count: number): Promise<Candidate[]> {
    const made: Candidate[] = [];
    for (let n = 0; n < count; n++) {
      const body = JSON.stringify({ name: `Ada ${n}` });
      const response = await load.send({ method: "POST", path: "/candidates", key: account.key, body });
      expect(response.status, response.body).to.equal(201);
      made.push(JSON.parse(response.body) as Candidate);
    }
    return made;
  }

  /** Reads until the cursor has reached the newest changes, so that a skipped place would be skipped for good. */
  async function mirrorToTheEnd(): Promise<void> {
    for (let repeated = true; repeated; await setTimeout(500)) {
      rows.length = 0;
      expect(await mirror.catchUp(), mirror.lastFault).to.equal(true);
      repeated = rows.length > 1;
    }
  }

  async function restart(): Promise<void> {
    for (const member of fleet.members) await member.end("SIGKILL");
    await Promise.all([fleet.join(), fleet.join()]);
  }

  const times = (made: readonly Candidate[]) => made.map(({ updated_at }) => Date.parse(updated_at));
  const warned = (text: string) => fleet.members.some(({ log }) => log.some(({ msg }) => msg.includes(text)));

  /** Expects that each replica's clock goes on: it gives one instant once. Those of two replicas may meet. */
  function expectDistinct(instants: readonly number[]): void {
    for (const instant of instants)
      expect(instants.filter((each) => each === instant).length, `at ${instant}`).to.be.at.most(REPLICAS);
  }

  async function expectNothingSkipped(): Promise<void> {
    expect(await missedBy(mirror, load, account.key)).to.deep.equal([]);
  }

  it("is not followed if it is Redis's alone: timestamps stay right, nothing is skipped, and the log says so", async () => {
    await start();
    await create(2);
    redis.ahead = LEAP_S;
    const during = await create(6);
    for (const time of times(during)) expect(time).to.be.closeTo(Date.now(), 10_000);
    await mirrorToTheEnd();
    expect(warned("a clock is wrong")).to.equal(true);
    redis.ahead = 0;
    await create(2);
    await restart();
    await create(4);
    await expectNothingSkipped();
  });

  it("is not followed either by replicas that start in the meantime", async () => {
    redis.ahead = LEAP_S;
    await start();
    const made = await create(4);
    for (const time of times(made)) expect(time).to.be.closeTo(Date.now(), 10_000);
    await mirrorToTheEnd();
    redis.ahead = 0;
    await create(4);
    await expectNothingSkipped();
  });

  for (const [how, restarts] of [
    ["goes on", false],
    ["is restarted", true],
  ] as const) {
    it(`is followed if most clocks show it; nothing is skipped when they are put right and the service ${how}`, async () => {
      redis.ahead = LEAP_S;
      await start([LEAPT, LEAPT]);
      const ahead = await create(4);
      for (const time of times(ahead)) expect(time).to.be.closeTo(Date.now() + LEAP_S * 1000, 10_000);
      await mirrorToTheEnd();
      redis.ahead = 0;
      for (const { child } of fleet.members) child.kill("SIGUSR2");
      if (restarts) await restart();
      const term = await termOf("sweeps");
      const putRight = performance.now();
      const after = await create(8);
      expectDistinct(times(after));
      await expectNothingSkipped();
      while ((await termOf("sweeps")) === term) {
        expect(performance.now() - putRight, "the lease of the sweeps is taken again").to.be.below(GO_ON_WITHIN_MS);
        await setTimeout(200);
      }
    });
  }

  async function termOf(name: string): Promise<unknown> {
    const leases = fleet.operators.mongo.db.collection<{ _id: string; term: number }>("leases");
    return (await leases.findOne({ _id: name }))?.term;
  }
});
