import { setImmediate as turn } from "node:timers/promises";
import { mock } from "node:test";
import { expect } from "chai";
import { ConnectionError, type MirrorOptions, ProblemError } from "../../src/client/index.ts";
import { RateLimitError } from "../../src/client/errors.ts";
import { Mirror } from "../../src/client/mirror.ts";
import { useNoService } from "../support/use-service.ts";
import { errorOf } from "./support.ts";

const PAGE = { data: [], has_more: false, cursor: "end" };

describe("mirror.follow", () => {
  useNoService();
  let now = 0;
  beforeEach(() => {
    now = 0;
    mock.timers.enable({ apis: ["setTimeout"] });
    mock.method(performance, "now", () => now);
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  /** Lets so many seconds pass. */
  async function pass(seconds: number, each = (): void => undefined): Promise<void> {
    for (let n = 0; n < seconds; n++) {
      await turn();
      now += 1_000;
      mock.timers.tick(1_000);
      each();
    }
    await turn();
  }

  /** Follows a feed. @param answer is called for each read. @returns when it read, in seconds. */
  function following(options: MirrorOptions = {}, answer = (_read: number): unknown => PAGE) {
    const reads: number[] = [];
    const cursors: (string | undefined)[] = [];
    const errors: unknown[] = [];
    const stop = new AbortController();
    const mirror = new Mirror(
      async ({ cursor }) => {
        cursors.push(cursor);
        const page = await answer(reads.push(now / 1_000));
        return page as typeof PAGE;
      },
      { ...options, signal: stop.signal },
    );
    const ended = errorOf(
      (async () => {
        for await (const { cursor } of mirror.follow((error) => errors.push(error))) expect(cursor).to.equal("end");
      })(),
    );
    return { mirror, reads, cursors, errors, ended, stop: () => stop.abort(new Error("stopped")) };
  }

  it("reads at once, then every 15 minutes, or as often as `every` says", async () => {
    const [usual, own, never] = [following(), following({ every: 600 }), following({ every: Infinity })];
    await pass(1_900);
    expect(usual.reads).to.deep.equal([0, 900, 1_800]);
    expect(own.reads).to.deep.equal([0, 600, 1_200, 1_800]);
    expect(never.reads).to.deep.equal([0]);
  });

  it("reads at once when it is nudged, and counts `every` from there", async () => {
    const { mirror, reads, cursors } = following();
    await pass(100);
    mirror.nudge();
    await pass(901);
    expect(reads).to.deep.equal([0, 100, 1_000]);
    expect(cursors).to.deep.equal([undefined, "end", "end"]);
  });

  it("reads once more for nudges that come while it reads", async () => {
    const { mirror, reads } = following({}, () => {
      if (reads.length === 1) for (let n = 0; n < 3; n++) mirror.nudge();
      return PAGE;
    });
    await pass(100);
    expect(reads).to.have.length(2);
  });

  it("reads at most 120 times in an hour, whatever comes, and then as often as it may", async () => {
    const { mirror, reads } = following();
    await pass(2 * 3_600, () => mirror.nudge());
    const inHour = (from: number) => reads.filter((at) => at >= from && at < from + 3_600).length;
    expect(reads.slice(0, 5).map((at) => Math.floor(at))).to.deep.equal([0, 1, 2, 3, 31]);
    expect(Math.max(...reads.map(inHour))).to.equal(120);
  });

  it("goes on after a limit, a lost connection or a 5xx, and says so", async () => {
    const passing = [new RateLimitError({}, undefined, 5), new ConnectionError("lost"), new ProblemError(503, {}, "1")];
    const { reads, errors } = following({ every: 10_000 }, (read) => {
      const error = passing[read - 1];
      if (error !== undefined) throw error;
      return PAGE;
    });
    await pass(200);
    expect(errors).to.deep.equal(passing);
    expect(reads).to.deep.equal([0, 31, 62, 93]);
  });

  it("ends with any other error, and with its signal's reason", async () => {
    for (const error of [new ProblemError(401, {}, "1"), new TypeError("a bug")]) {
      const { ended } = following({}, () => {
        throw error;
      });
      expect(await ended).to.equal(error);
    }
    const { ended, stop } = following();
    await pass(1);
    stop();
    expect(await ended).to.have.property("message", "stopped");
  });
});
