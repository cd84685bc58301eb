import { expect } from "chai";
import type { Limits } from "../../../src/limits/schema.ts";
import type { Refusal, Result } from "../../../src/site/browser/console/result.ts";
import { PERIOD_MS, Watch, type WatchState } from "../../../src/site/browser/console/watch.ts";

const limits: Limits = {
  object: "limits",
  account_id: "acct_1",
  key_id: "key_1",
  window_seconds: 3600,
  surfaces: [],
  grants: [],
};
const ok: Result<Limits> = { kind: "ok", body: limits };

function refused(status: number, retryAfter?: number): Result<Limits> {
  const refusal: Refusal = { status, code: "", title: "", detail: "", requestId: "", retryAfter };
  return { kind: "refused", refusal };
}

/** A watch with a clock of its own. Each request gets `result`, at once. */
class Trial {
  now = 0;
  result: Result<Limits> = ok;
  readonly sent: string[] = [];
  readonly states: WatchState[] = [];
  #timer: { readonly at: number; readonly work: () => void } | undefined;
  readonly watch = new Watch({
    get: (key) => {
      this.sent.push(`${key} at ${this.now}`);
      return Promise.resolve(this.result);
    },
    now: () => this.now,
    after: (ms, work) => {
      const timer = { at: this.now + ms, work };
      this.#timer = timer;
      return () => {
        if (this.#timer === timer) this.#timer = undefined;
      };
    },
    changed: (state) => void this.states.push(state),
    read: () => undefined,
  });

  /** Runs all that is due until this time. */
  async until(time: number): Promise<void> {
    for (let timer = this.#timer; timer !== undefined && timer.at <= time; timer = this.#timer) {
      this.#timer = undefined;
      this.now = timer.at;
      timer.work();
      await new Promise(setImmediate);
    }
    this.now = time;
  }
}

describe("the console's watch", () => {
  it("asks for each key once in a round, and rests between rounds", async () => {
    const trial = new Trial();
    trial.watch.start(["a", "b"]);
    await trial.until(2 * PERIOD_MS - 1);
    expect(trial.sent).to.deep.equal(["a at 0", "b at 0", `a at ${PERIOD_MS}`, `b at ${PERIOD_MS}`]);
  });

  it("asks for nothing while the tab is hidden, and goes on when it is seen", async () => {
    const trial = new Trial();
    trial.watch.start(["a"]);
    await trial.until(10);
    trial.watch.visible(false);
    await trial.until(60_000);
    expect(trial.sent).to.have.length(1);
    expect(trial.states.at(-1)?.kind).to.equal("paused");
    trial.watch.visible(true);
    await trial.until(60_001);
    expect(trial.sent).to.deep.equal(["a at 0", "a at 60000"]);
  });

  it("does not ask sooner because the tab is hidden and seen again and again", async () => {
    const trial = new Trial();
    trial.watch.start(["a"]);
    for (let time = 100; time < PERIOD_MS; time += 100) {
      await trial.until(time);
      trial.watch.visible(time % 200 === 0);
    }
    expect(trial.sent).to.have.length(1);
  });

  it("stops at a key that may not be used, until it is started again", async () => {
    for (const status of [401, 403]) {
      const trial = new Trial();
      trial.result = refused(status);
      trial.watch.start(["a"]);
      await trial.until(600_000);
      trial.watch.visible(false);
      trial.watch.visible(true);
      await trial.until(700_000);
      expect(trial.sent, String(status)).to.have.length(1);
      expect(trial.states.at(-1)?.kind).to.equal("stopped");
      trial.result = ok;
      trial.watch.start(["a"]);
      await trial.until(700_001);
      expect(trial.states.at(-1)).to.include({ kind: "waiting", failure: undefined });
    }
  });

  it("waits out a Retry-After, also if the tab was hidden meanwhile", async () => {
    const trial = new Trial();
    trial.result = refused(429, 30);
    trial.watch.start(["a"]);
    await trial.until(5_000);
    trial.watch.visible(false);
    await trial.until(6_000);
    trial.watch.visible(true);
    expect(trial.states.at(-1)).to.include({ kind: "waiting", nextAt: 30_000 });
    await trial.until(29_999);
    expect(trial.sent).to.have.length(1);
    await trial.until(30_000);
    expect(trial.sent).to.have.length(2);
  });

  it("goes on while nothing responds, and is live again once something does", async () => {
    const trial = new Trial();
    trial.result = { kind: "unreachable" };
    trial.watch.start(["a"]);
    await trial.until(2 * PERIOD_MS);
    expect(trial.sent).to.deep.equal(["a at 0", `a at ${PERIOD_MS}`, `a at ${2 * PERIOD_MS}`]);
    expect(trial.states.at(-1)?.failure?.result.kind).to.equal("unreachable");
    trial.result = ok;
    await trial.until(3 * PERIOD_MS);
    expect(trial.states.at(-1)).to.include({ kind: "waiting", nextAt: 4 * PERIOD_MS, failure: undefined });
  });

  it("does nothing more once the keys are forgotten", async () => {
    const trial = new Trial();
    trial.result = { kind: "unreachable" };
    trial.watch.start(["a"]);
    await trial.until(5_000);
    trial.watch.start([]);
    const states = trial.states.length;
    trial.watch.visible(false);
    trial.watch.visible(true);
    await trial.until(60_000);
    expect(trial.states.length).to.equal(states);
    expect(trial.sent.at(-1)).to.equal("a at 4000");
  });
});
