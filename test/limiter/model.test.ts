import { expect } from "chai";
import fc from "fast-check";
import type { Caller } from "../../src/accounts/caller.ts";
import type { RedisClient } from "../../src/infra/redis.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { KeyMarkers } from "../../src/limiter/key-markers.ts";
import { charge as runCharge } from "../../src/limiter/scripts.ts";
import { readUsage } from "../../src/limiter/usage.ts";
import { type Charge, type Limits, Model } from "./model.ts";
import { clearOfMidnight, newCaller, redisNow, useTestRedis } from "./support.ts";

const DAY_SECONDS = 86_400;
const KEYS = 3;

type Step =
  | ({ do: "charge" } & Charge)
  | { do: "put"; key: number; surface: Charge["surface"]; id: string; amount: number; expiresInDays: number }
  | { do: "remove"; key: number; surface: Charge["surface"]; id: string }
  | { do: "revoke"; key: number }
  | { do: "suspend" | "resume" };

const key = fc.nat({ max: KEYS - 1 });
const SURFACES = ["create", "start"] as const;
const surface = fc.constantFrom(...SURFACES);
const cost = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5 }));
// No two live grants expire together: the order in which such grants are drawn is unspecified.
const grant = fc.oneof(
  fc.record({ id: fc.constant("grant_a"), expiresInDays: fc.constantFrom(-0.2, 1) }),
  fc.record({ id: fc.constant("grant_b"), expiresInDays: fc.constantFrom(-0.1, 2) }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record({ do: fc.constant("charge"), key, surface, cost }),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(key, surface, fc.integer({ min: 1, max: 9 }), grant)
      .map(([of, on, amount, made]) => ({ do: "put", key: of, surface: on, amount, ...made }) as const),
  },
  fc.tuple(key, surface, grant).map(([of, on, { id }]) => ({ do: "remove", key: of, surface: on, id }) as const),
  fc.record({ do: fc.constant("revoke"), key }),
  fc.record({ do: fc.constantFrom("suspend", "resume") }),
);
/** By itself fast-check makes at most ten steps, too few for a window to be exhausted while several grants live. */
const LENGTH = { maxLength: 80, size: "max" } as const;
const limits = fc.record({ account: fc.nat({ max: 30 }), key: fc.nat({ max: 20 }) });

describe("the Lua scripts, compared with their model,", () => {
  const redis = useTestRedis();
  before(async () => {
    await clearOfMidnight(redis);
    // Load every script into Redis first. Otherwise ioredis sends a missing script again, and later steps run before it.
    const run = await begin(redis, { account: 1, key: 1 });
    await take({ do: "charge", key: 0, surface: "create", cost: 1 }, run);
    await take({ do: "revoke", key: 0 }, run);
    await take({ do: "suspend" }, run);
  });

  it("give the same verdicts and the same numbers over random sequences", async () => {
    const property = fc.asyncProperty(limits, fc.array(step, LENGTH), async (allowed, steps) => {
      const run = await begin(redis, allowed);
      // Redis runs the commands of one connection in order, so there is no need to wait for each answer.
      const outcomes = await Promise.all(steps.map((next) => take(next, run)));
      expect(outcomes.map(([, actual]) => actual)).to.deep.equal(outcomes.map(([expected]) => expected));
      expect(await actualUsage(run)).to.deep.equal(expectedUsage(run));
    });
    await fc.assert(property, { numRuns: 200 });
  }).timeout(60_000);
});

/** One sequence of steps, applied to the model and to Redis. */
interface Run {
  readonly model: Model;
  readonly redis: RedisClient;
  readonly limits: Limits;
  readonly callers: Caller[];
  readonly now: number;
}

async function begin(redis: RedisClient, allowed: Limits): Promise<Run> {
  const first = newCaller();
  const others = Array.from({ length: KEYS - 1 }, () => newCaller(first.accountId));
  return { model: new Model(), redis, limits: allowed, callers: [first, ...others], now: await redisNow(redis) };
}

async function take(
  step: Step,
  { model, redis, limits: allowed, callers, now }: Run,
): Promise<[expected: unknown, actual: unknown]> {
  const markers = new KeyMarkers(redis);
  const grants = new GrantCounters(redis);
  const { accountId } = callers[0]!;
  if (step.do === "charge")
    return [model.charge(step, allowed), await charge(redis, callers[step.key]!, step, allowed)];
  if (step.do === "put") {
    const own = model.grantsOf(step.key, step.surface);
    const isNew = !own.has(step.id);
    if (isNew) own.set(step.id, { ...step, remaining: step.amount });
    const expiresAtMs = now + step.expiresInDays * DAY_SECONDS * 1000;
    const { id: grantId, surface: on, amount } = step;
    return [isNew, await grants.put({ ...callers[step.key]!, grantId, surface: on, amount, expiresAtMs })];
  }
  if (step.do === "remove") {
    const removed = grants.remove({ ...callers[step.key]!, grantId: step.id, surface: step.surface });
    return [model.grantsOf(step.key, step.surface).delete(step.id), await removed];
  }
  if (step.do === "revoke") {
    model.revoked.add(step.key);
    return [true, await markers.markRevoked(accountId, callers[step.key]!.keyId)];
  }
  model.suspended = step.do === "suspend";
  return [true, await markers.markStatus(accountId, model.suspended ? "suspended" : "active", 1)];
}

async function charge(
  redis: RedisClient,
  caller: Caller,
  { surface: on, cost: charged }: Charge,
  allowed: Limits,
): Promise<unknown[]> {
  const { verdict, accountRemaining, keyRemaining, grantRemaining, grantAmount } = await runCharge(redis, {
    caller,
    surface: on,
    limits: allowed,
    windowSeconds: DAY_SECONDS,
    cost: charged,
    deadlineMs: 0,
    accountVersion: 0,
    secretEndsAt: 0,
  });
  return [verdict, accountRemaining, keyRemaining, grantRemaining, grantAmount];
}

async function actualUsage({ redis, callers }: Run): Promise<unknown[]> {
  const options = { redis, windowSeconds: DAY_SECONDS, scale: 1, timeoutMs: 5_000 };
  const all = await Promise.all(callers.map((caller) => readUsage(options, caller)));
  return all.map(({ refusal, surfaces, grants }) => ({
    refusal,
    used: surfaces
      .filter(({ surface: of }) => of === "create" || of === "start")
      .map(({ account, key: own }) => [account.used, own.used]),
    grants: grants.map(({ id, surface: of, remaining, amount }) => [of, id, remaining, amount]),
  }));
}

function expectedUsage({ model, callers }: Run): unknown[] {
  return callers.map((_, owner) => ({
    refusal: model.revoked.has(owner) ? "revoked" : model.suspended ? "suspended" : undefined,
    used: SURFACES.map((of) => [model.usedOf(of), model.usedOf(of, owner)]),
    grants: SURFACES.flatMap((of) =>
      [...model.grantsOf(owner, of)]
        .filter(([, { expiresInDays }]) => expiresInDays > 0)
        .toSorted(([, a], [, b]) => a.expiresInDays - b.expiresInDays)
        .map(([id, { remaining, amount }]) => [of, id, remaining, amount]),
    ),
  }));
}
