import { expect } from "chai";
import fc from "fast-check";
import type { Caller } from "../../src/accounts/caller.ts";
import type { RedisClient } from "../../src/infra/redis.ts";
import { GrantCounters, liveGrants } from "../../src/limiter/grant-counters.ts";
import { charge as runCharge, drawGrant, raiseVersion, redisKeys } from "../../src/limiter/scripts.ts";
import { readUsage } from "../../src/limiter/usage.ts";
import { type Charge, type Limits, Model } from "./model.ts";
import { clearOfMidnight, newCaller, redisNow, useTestRedis } from "./support.ts";

const DAY_SECONDS = 86_400;
const KEYS = 3;

type Step =
  /** `limits` null: those of the run. */
  | ({ do: "charge"; limits: Limits | null } & Omit<Charge, "limits">)
  | { do: "put"; key: number; surface: Charge["surface"]; id: string; amount: number; expiresInDays: number }
  | { do: "remove"; key: number; surface: Charge["surface"]; id: string }
  | { do: "raise"; version: number; over: number }
  /** The window ended, or the clock stepped back: the ledger is this many windows ahead of the clock's. */
  | { do: "window"; ahead: number }
  /** Redis loses its data, while replicas go on with the keys that they have cached. */
  | { do: "lose" };

const key = fc.nat({ max: KEYS - 1 });
const SURFACES = ["create", "start"] as const;
const surface = fc.constantFrom(...SURFACES);
const cost = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5 }));
const limits = fc.record({ account: fc.nat({ max: 30 }), key: fc.nat({ max: 20 }) });
const version = fc.integer({ min: 1, max: 12 });
// No two live grants expire together: the order in which such grants are drawn is unspecified.
const grant = fc.oneof(
  fc.record({ id: fc.constant("grant_a"), expiresInDays: fc.constantFrom(-0.2, 1) }),
  fc.record({ id: fc.constant("grant_b"), expiresInDays: fc.constantFrom(-0.1, 2) }),
);
const charges: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("charge"),
  key,
  surface,
  cost,
  limits: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: limits }),
  accountVersion: fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: version }),
  showGrants: fc.boolean(),
});
const puts: fc.Arbitrary<Step> = fc
  .tuple(key, surface, fc.integer({ min: 1, max: 9 }), grant)
  .map(([of, on, amount, made]) => ({ do: "put", key: of, surface: on, amount, ...made }));
const removes: fc.Arbitrary<Step> = fc
  .tuple(key, surface, grant)
  .map(([of, on, { id }]) => ({ do: "remove", key: of, surface: on, id }));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 48, arbitrary: charges },
  { weight: 6, arbitrary: puts },
  { weight: 2, arbitrary: removes },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("raise"), version, over: fc.nat({ max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("window"), ahead: fc.constantFrom(-1, 1, 2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose") }) },
);
/** By itself fast-check makes at most ten steps, too few for a window to be exhausted while several grants live. */
const LENGTH = { maxLength: 80, size: "max" } as const;

describe("the Lua scripts, compared with their model,", () => {
  const redis = useTestRedis();
  before(async () => {
    await clearOfMidnight(redis);
    // Load every script into Redis first. Otherwise ioredis sends a missing script again, and later steps run before it.
    const run = await begin(redis, { account: 1, key: 1 });
    const claim = { limits: null, accountVersion: undefined, showGrants: false };
    await take({ do: "charge", key: 0, surface: "create", cost: 2, ...claim }, run);
    await take({ do: "raise", version: 1, over: 0 }, run);
  });

  it("give the same verdicts and the same numbers over random sequences", async () => {
    const property = fc.asyncProperty(limits, fc.array(step, LENGTH), async (allowed, steps) => {
      const run = await begin(redis, allowed);
      // Redis runs the commands of one connection in order, so there is no need to wait for each reply.
      const outcomes = await Promise.all(steps.map((next) => take(next, run)));
      expect(outcomes.map(([, actual]) => actual)).to.deep.equal(outcomes.map(([expected]) => expected));
      expect(await actualUsage(run)).to.deep.equal(expectedUsage(run));
    });
    await fc.assert(property, { numRuns: 250 });
  }).timeout(60_000);
});

/** One sequence of steps, applied to the model and to Redis. */
interface Run {
  readonly model: Model;
  readonly redis: RedisClient;
  readonly limits: Limits;
  readonly callers: Caller[];
  readonly now: number;
  /** The number of the window that the clock shows. */
  readonly window: number;
}

async function begin(redis: RedisClient, allowed: Limits): Promise<Run> {
  const first = newCaller();
  const others = Array.from({ length: KEYS - 1 }, () => newCaller(first.accountId));
  const now = await redisNow(redis);
  const window = Math.floor(now / (DAY_SECONDS * 1000));
  return { model: new Model(), redis, limits: allowed, callers: [first, ...others], now, window };
}

type Outcome = [expected: unknown, actual: unknown];

/** Does a step to the model and to Redis. */
async function take(step: Step, run: Run): Promise<Outcome> {
  const { model, redis, callers, now } = run;
  const grants = new GrantCounters(redis);
  const { accountId } = callers[0]!;
  switch (step.do) {
    case "charge": {
      const asked = { ...step, limits: step.limits ?? run.limits };
      const expected = model.charge(asked);
      return [expected, await charge(run, asked, /granted|exhausted/.test(String(expected[0])))];
    }
    case "put": {
      const own = model.grantsOf(step.key, step.surface);
      const isNew = !own.has(step.id);
      if (isNew) own.set(step.id, { ...step, remaining: step.amount });
      const expiresAtMs = now + step.expiresInDays * DAY_SECONDS * 1000;
      const { id: grantId, surface: on, amount } = step;
      return [isNew, await grants.put({ ...callers[step.key]!, grantId, surface: on, amount, expiresAtMs })];
    }
    case "remove": {
      const removed = grants.remove({ ...callers[step.key]!, grantId: step.id, surface: step.surface });
      return [model.grantsOf(step.key, step.surface).delete(step.id), await removed];
    }
    case "raise": {
      const call = { version: step.version, over: step.over, lifetimeMs: 60_000, deadlineMs: 0 };
      return [model.raise(step.version, step.over), await raiseVersion(redis, accountId, call)];
    }
    case "window":
      model.window = step.ahead;
      await redis.hset(redisKeys.ledger(accountId), "window", run.window + step.ahead);
      return [true, true];
    case "lose": {
      model.lose();
      const all = callers.flatMap((caller) => SURFACES.map((of) => redisKeys.grants(caller, of)));
      await redis.del(redisKeys.ledger(accountId), ...all);
      return [true, true];
    }
    default:
      return step satisfies never;
  }
}

/**
 * Charges as the limiter does, which draws on the grants if a window is exhausted, but waits for no reply in between.
 * @param draws whether a window is exhausted, says the model.
 */
async function charge(
  { redis, callers, window: clock }: Run,
  { key: of, surface: on, showGrants, ...asked }: Charge,
  draws: boolean,
): Promise<unknown[]> {
  const caller = callers[of]!;
  const call = { ...asked, caller, surface: on, windowSeconds: DAY_SECONDS, deadlineMs: 0, secretEndsAt: 0 };
  const [reply, drawn, grants] = await Promise.all([
    runCharge(redis, call),
    draws ? drawGrant(redis, call) : undefined,
    showGrants ? new GrantCounters(redis).list(caller, on) : [],
  ]);
  const { verdict, accountUsed, keyUsed, window, nowMs } = reply;
  const { grantRemaining, grantAmount } = drawn ?? liveGrants(grants, nowMs);
  const isGranted = verdict.endsWith("_exhausted") && drawn?.outcome === "drawn";
  return [isGranted ? "granted" : verdict, accountUsed, keyUsed, window - clock, grantRemaining, grantAmount];
}

async function actualUsage({ redis, callers, window: clock }: Run): Promise<unknown[]> {
  const options = { redis, windowSeconds: DAY_SECONDS, scale: 1, timeoutMs: 5_000 };
  const all = await Promise.all(callers.map((caller) => readUsage(options, { ...caller, accountVersion: 6 })));
  return all.map(({ refusal, surfaces, grants, nowMs, resetMs }) => ({
    refusal,
    window: (nowMs + resetMs) / (DAY_SECONDS * 1000) - 1 - clock,
    used: surfaces
      .filter(({ surface: of }) => of === "create" || of === "start")
      .map(({ account, key: own }) => [account.used, own.used]),
    grants: grants.map(({ id, surface: of, remaining, amount }) => [of, id, remaining, amount]),
  }));
}

function expectedUsage({ model, callers }: Run): unknown[] {
  return callers.map((_, owner) => ({
    refusal: model.version === null || model.version > 6 ? "outdated" : undefined,
    window: model.current,
    used: SURFACES.map((of) => [model.usedOf(of), model.usedOf(of, owner)]),
    grants: SURFACES.flatMap((of) =>
      [...model.grantsOf(owner, of)]
        .filter(([, { expiresInDays }]) => expiresInDays > 0)
        .toSorted(([, a], [, b]) => a.expiresInDays - b.expiresInDays)
        .map(([id, { remaining, amount }]) => [of, id, remaining, amount]),
    ),
  }));
}
