import { ChangedAccounts } from "../../src/candidates/changed-accounts-store.ts";
import { FeedClock } from "../../src/candidates/feed-clock.ts";
import { type Checkpoint, CheckpointStore } from "../../src/candidates/checkpoints.ts";
import { Checkpoints } from "../../src/candidates/checkpoints.ts";
import { expect } from "chai";
import { until } from "../erasure/support.ts";
import { useDatabase } from "../support/use-service.ts";

const NOW = Date.parse("2026-11-27T12:00:00Z");
const LEAP_MS = 300_000;

describe("the clock that places in the feed are taken from", () => {
  let now = NOW;
  const feedClock = () => new FeedClock({ now: () => now });
  beforeEach(() => {
    now = NOW;
  });

  it("shows what the service's clock shows", () => {
    const clock = feedClock();
    expect(clock.now()).to.equal(NOW);
    now += LEAP_MS;
    expect(clock.now()).to.equal(NOW + LEAP_MS);
    expect(clock.reserve()).to.include({ at: NOW + LEAP_MS, now: NOW + LEAP_MS });
  });

  it("goes on from where it was when the service's clock steps back, and more slowly until that has caught up", async () => {
    const clock = feedClock();
    now += LEAP_MS;
    clock.now();
    now -= LEAP_MS;
    const began = performance.now();
    const shown = [clock.now()];
    await until(() => {
      shown.push(clock.now());
      return shown.at(-1)! >= NOW + LEAP_MS + 20;
    });
    expect(shown).to.deep.equal(shown.toSorted((one, other) => one - other));
    expect(performance.now() - began, "half the pace").to.be.above(39);
    now += LEAP_MS + 1_000;
    expect(clock.now(), "caught up").to.equal(NOW + LEAP_MS + 1_000);
  });

  it("gives the time of an edit by the service's clock, and its place after every earlier one", () => {
    const clock = feedClock();
    now += LEAP_MS;
    clock.now();
    now -= LEAP_MS;
    const place = clock.reserve(NOW + 2 * LEAP_MS);
    expect(place).to.include({ at: NOW + 2 * LEAP_MS + 1, now: NOW });
  });

  describe("of a process that starts after every clock was set back", () => {
    const mongo = useDatabase();

    async function start(clock: FeedClock, store = new CheckpointStore(mongo), roundMs = 5): Promise<Checkpoints> {
      const inFlight = { earliest: (time: number) => time, settled: () => Promise.resolve(true) };
      const log = { warn: () => undefined };
      const marks = new Checkpoints({
        store,
        clock,
        writer: `one-${Math.random()}`,
        inFlight,
        changed: new ChangedAccounts(mongo),
        log,
        roundMs,
      });
      await marks.start();
      return marks;
    }

    it("takes no place that an earlier process has given to readers, though that one is gone", async () => {
      now += LEAP_MS;
      const before = await start(feedClock());
      const given = before.completeUntil();
      expect(given).to.equal(NOW + LEAP_MS);
      await before.stop(0);
      now -= LEAP_MS;
      const clock = feedClock();
      const after = await start(clock);
      expect(clock.reserve().at).to.be.at.least(given);
      await after.stop(0);
    });

    it("takes none that a reader is given while it starts, between any two of its steps", async () => {
      let time = NOW;
      const reading = new FeedClock({ now: () => time });
      const given: number[] = [];
      /** Another process makes a round, and tells readers what it found. */
      async function read(): Promise<void> {
        time += LEAP_MS;
        const other = await start(reading, undefined, 600_000);
        given.push(other.completeUntil());
        await other.stop(0);
      }
      class Between extends CheckpointStore {
        override async put(mark: Checkpoint): Promise<void> {
          await super.put(mark);
          await read();
        }
        override async raise(epochMs: number): Promise<number> {
          const high = await super.raise(epochMs);
          await read();
          return high;
        }
      }
      await read();
      const clock = feedClock();
      const starting = await start(clock, new Between(mongo), 600_000);
      expect(given).to.have.length(3);
      expect(clock.reserve().at).to.be.at.least(Math.max(...given));
      await starting.stop(0);
    });

    it("is moved on by the clocks of the others, so that all take places close together", async () => {
      const slow = feedClock();
      const follower = await start(slow);
      const leader = await start(new FeedClock({ now: () => NOW + 7 * LEAP_MS }));
      await until(() => slow.now() >= NOW + 7 * LEAP_MS);
      await Promise.all([leader.stop(0), follower.stop(0)]);
    });
  });
});
