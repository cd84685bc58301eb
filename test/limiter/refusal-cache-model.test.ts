import { expect } from "chai";
import fc from "fast-check";
import type { ChargeRequest, Decision, Verdict } from "../../src/limiter/decision.ts";
import { ACCOUNT_REFUSAL_MS, refusalCache } from "../../src/limiter/refusal-cache.ts";
import { type Charge as AnyCharge, type Limits, Model } from "./model.ts";

type Charge = Pick<AnyCharge, "key" | "surface" | "cost">;

const WINDOW_SECONDS = 2;
const WINDOW_US = WINDOW_SECONDS * 1_000_000;
const SURFACES = ["create", "start"] as const;

/** Times are in microseconds, so that Redis's clock cuts something off. */
interface Ways {
  readonly toRedis: number;
  readonly back: number;
}
type Step =
  | { do: "charge"; charge: Charge; times: number; ways: Ways }
  | { do: "wait"; forUs: number }
  | { do: "wait for a window"; afterUs: number }
  | { do: "issue" | "remove"; key: number; surface: Charge["surface"]; amount: number }
  | { do: "reconnect" };

interface Setting {
  readonly limits: Limits;
  /** What Redis's clock shows at the beginning. */
  readonly startUs: number;
  /** How much faster than the replica's timer it runs. */
  readonly speed: number;
}

/** Redis with a clock that runs, and windows. When a new one begins, the counters start anew. */
class TimedRedis {
  readonly model = new Model();
  readonly #setting: Setting;
  #window = -1;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  /** Charges a request at that time of the replica's timer. */
  charge(charge: Charge, atUs: number): Decision {
    const { limits, startUs, speed } = this.#setting;
    const nowMs = Math.floor((startUs + atUs * speed) / 1000);
    const window = Math.floor(nowMs / (WINDOW_SECONDS * 1000));
    if (window !== this.#window) this.model.window = null;
    this.#window = window;
    const claim = { limits, accountVersion: undefined, showGrants: false };
    const [verdict, account = 0, key = 0, , grant = 0, amount = 0] = this.model.charge({ ...charge, ...claim });
    const remaining = (limit: number, used: number | string) => ({
      limit,
      remaining: Math.max(limit - Number(used), 0),
    });
    return {
      verdict: verdict as Verdict,
      surface: charge.surface,
      account: remaining(limits.account, account),
      key: remaining(limits.key, key),
      grantRemaining: grant === -1 ? null : Number(grant),
      grantAmount: amount === -1 ? null : Number(amount),
      resetMs: (window + 1) * WINDOW_SECONDS * 1000 - nowMs,
      windowSeconds: WINDOW_SECONDS,
      window,
    };
  }
}

/** A replica with its cache, Redis, and what is on its way between them. */
class Run {
  readonly repeated: Decision[] = [];
  readonly #setting: Setting;
  readonly #connection = { changes: 0 };
  readonly #cache = refusalCache({ connection: this.#connection, timer: { now: () => this.#nowUs / 1000 } });
  readonly #events: { atUs: number; happens: () => void }[] = [];
  #redis: TimedRedis;
  #nowUs = 0;
  #slowestBackUs = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#redis = new TimedRedis(setting);
  }

  take(step: Step): void {
    if (step.do === "charge") for (let i = 0; i < step.times; i++) this.#offer(step.charge, step.ways);
    if (step.do === "issue") this.#issue(step);
    if (step.do === "remove") this.#redis.model.grantsOf(step.key, step.surface).clear();
    if (step.do === "reconnect") {
      // Another server, without the counts. Answers of the old one may still arrive.
      this.#redis = new TimedRedis(this.#setting);
      this.#connection.changes++;
    }
    if (step.do === "wait") this.#until(this.#nowUs + step.forUs);
    if (step.do === "wait for a window") this.#until(this.#nextWindowUs() + step.afterUs);
  }

  #offer(charge: Charge, { toRedis, back }: Ways): void {
    const request: ChargeRequest = { ...charge, accountId: "acct_1", keyId: `key_${charge.key}` };
    const found = this.#cache.find(request);
    if (found !== undefined) return this.#compare(found, this.#redis.charge(charge, this.#nowUs));
    const sending = this.#cache.sent();
    const redis = this.#redis;
    this.#slowestBackUs = Math.max(this.#slowestBackUs, back);
    this.#after(toRedis, () => {
      const decision = redis.charge(charge, this.#nowUs);
      this.#after(back, () => this.#cache.keep(request, decision, sending));
    });
    this.#until(this.#nowUs);
  }

  /** Compares a refusal that the replica found with what Redis replies now. */
  #compare(found: Decision, now: Decision): void {
    this.repeated.push(found);
    // A grant that was placed meanwhile is still empty, so only the headers of Redis's reply would show it.
    const { resetMs, grantRemaining, grantAmount, ...rest } = found;
    expect([grantRemaining, grantAmount]).to.deep.equal([null, null]);
    if (found.verdict === "account_exhausted") expect(now).to.deep.include(rest);
    else {
      // The account may have been charged by other keys meanwhile, and exhausted.
      expect(now.verdict).to.be.oneOf(["key_exhausted", "account_exhausted"]);
      expect(now).to.deep.include({ window: rest.window, key: rest.key });
    }
    // Never too early. Too late by the way back, by 2 ms because both sides round, and by 1 ms because Redis's clock is fast.
    expect(resetMs).to.be.within(now.resetMs, now.resetMs + this.#slowestBackUs / 1000 + 3);
  }

  /** Returns when Redis's next window begins. */
  #nextWindowUs(): number {
    const { startUs, speed } = this.#setting;
    const next = Math.floor((startUs + this.#nowUs * speed) / WINDOW_US) + 1;
    return Math.ceil((next * WINDOW_US - startUs) / speed);
  }

  /** Issues a grant: places it empty, waits, and fills it. */
  #issue({ key, surface, amount }: { key: number; surface: Charge["surface"]; amount: number }): void {
    const grant = { remaining: 0, amount, expiresInDays: 1 };
    this.#redis.model.grantsOf(key, surface).set("grant", grant);
    this.#after(ACCOUNT_REFUSAL_MS * 1000, () => (grant.remaining = amount));
  }

  #after(us: number, happens: () => void): void {
    this.#events.push({ atUs: this.#nowUs + us, happens });
    this.#events.sort((a, b) => a.atUs - b.atUs);
  }

  /** Lets time pass, and what is due happen. */
  #until(atUs: number): void {
    for (let next = this.#events[0]; next !== undefined && next.atUs <= atUs; next = this.#events[0]) {
      this.#events.shift();
      this.#nowUs = next.atUs;
      next.happens();
    }
    this.#nowUs = atUs;
  }
}

const key = fc.nat({ max: 1 });
const surface = fc.constantFrom(...SURFACES);
const ms = (max: number) => fc.nat({ max: max * 1000 });
const wait = fc.oneof(ms(5), ms(100), ms(1_000), fc.constantFrom(100_000, 1_000_000));
const setting = fc.record({
  // Wide enough for an account to be used up, and for one of its keys alone, in each series of runs.
  limits: fc.record({ account: fc.nat({ max: 12 }), key: fc.nat({ max: 3 }) }),
  startUs: fc.nat({ max: WINDOW_US }),
  speed: fc.constantFrom(1, 1.001),
});
const LENGTH = { minLength: 5, maxLength: 60, size: "max" } as const;

function stepsWith(ways: fc.Arbitrary<Ways>): fc.Arbitrary<Step[]> {
  const charge = fc.record({ key, surface, cost: fc.constantFrom(1, 1, 1, 2) });
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ do: fc.constant("charge"), charge, times: fc.integer({ min: 1, max: 14 }), ways }),
    },
    { weight: 8, arbitrary: wait.map((forUs) => ({ do: "wait", forUs }) as const) },
    { weight: 3, arbitrary: ms(1).map((afterUs) => ({ do: "wait for a window", afterUs }) as const) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constantFrom("issue", "remove"), key, surface, amount: fc.nat({ max: 3 }) }),
    },
    { weight: 1, arbitrary: fc.constant({ do: "reconnect" } as const) },
  );
  return fc.array(step, LENGTH);
}

/** Runs random sequences. Every refusal that the replica repeats is compared with Redis's reply. */
function compare(ways: fc.Arbitrary<Ways>): void {
  const counts: Partial<Record<Verdict, number>> = {};
  const property = fc.property(setting, stepsWith(ways), (chosen, steps) => {
    const run = new Run(chosen);
    for (const step of steps) run.take(step);
    for (const { verdict } of run.repeated) counts[verdict] = (counts[verdict] ?? 0) + 1;
  });
  fc.assert(property, { numRuns: 400 });
  expect(counts).to.have.all.keys("account_exhausted", "key_exhausted");
}

describe("the cache of refusals, compared with a model of Redis,", () => {
  it("repeats what Redis would reply now", () => {
    compare(fc.constant({ toRedis: 0, back: 0 }));
  });

  it("does so if charges and replies are under way for a while, and overtake each other", () => {
    compare(fc.record({ toRedis: fc.oneof(ms(2), ms(80)), back: fc.oneof(ms(2), ms(80)) }));
  });
});
