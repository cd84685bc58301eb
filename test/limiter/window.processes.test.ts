import { expect } from "chai";
import type { Caller } from "../../src/accounts/caller.ts";
import type { RedisClient } from "../../src/infra/redis.ts";
import type { Decision } from "../../src/limiter/decision.ts";
import type { Limiter } from "../../src/limiter/limiter.ts";
import { limitsOf, type Surface } from "../../src/limiter/surfaces.ts";
import { limiterOver, newCaller, testRedis } from "./support.ts";

const CONNECTIONS = 8;
/** The load ends after requests were refused in this many windows. */
const FULL_WINDOWS = 3;
const SURFACE: Surface = "start";
const { account: ACCOUNT_LIMIT, key: KEY_LIMIT } = limitsOf(SURFACE, 1);

describe("the limiter at the edge of a window", function () {
  this.timeout(60_000);
  let connections: RedisClient[];
  let limiters: Limiter[];
  before(async () => {
    connections = await Promise.all(Array.from({ length: CONNECTIONS }, testRedis));
    limiters = connections.map((redis) => limiterOver(redis, { windowSeconds: 1 }));
  });
  after(() => connections.forEach((redis) => redis.disconnect()));

  it("admits exactly the account's limit over all its keys in every window", async () => {
    const caller = newCaller();
    const windows = await hammer(
      [caller, newCaller(caller.accountId), newCaller(caller.accountId)],
      "account_exhausted",
    );
    for (const { admitted, refused } of windows.values()) {
      const total = [...admitted.values()].reduce((sum, count) => sum + count, 0);
      if (refused.has("account_exhausted")) expect(total).to.equal(ACCOUNT_LIMIT);
      expect(total).to.be.at.most(ACCOUNT_LIMIT);
      for (const count of admitted.values()) expect(count).to.be.at.most(KEY_LIMIT);
    }
  });

  it("admits exactly the key's limit in every window", async () => {
    const caller = newCaller();
    const windows = await hammer([caller], "key_exhausted");
    for (const { admitted, refused } of windows.values()) {
      if (refused.has("key_exhausted")) expect(admitted.get(caller.keyId)).to.equal(KEY_LIMIT);
      expect(admitted.get(caller.keyId) ?? 0).to.be.at.most(KEY_LIMIT);
    }
  });

  interface Window {
    /** Number of admitted requests by key id. */
    admitted: Map<string, number>;
    refused: Set<string>;
  }

  /** Charges on all connections without a pause, until FULL_WINDOWS windows have refused for the given reason. */
  async function hammer(callers: Caller[], reason: Decision["verdict"]): Promise<Map<number, Window>> {
    const windows = new Map<number, Window>();
    let full = 0;
    const record = ({ verdict, window }: Decision, { keyId }: Caller): void => {
      const seen = windows.get(window) ?? { admitted: new Map(), refused: new Set() };
      windows.set(window, seen);
      if (verdict === "admitted") seen.admitted.set(keyId, (seen.admitted.get(keyId) ?? 0) + 1);
      else if (verdict === reason && !seen.refused.has(reason)) full += 1;
      if (verdict !== "admitted") seen.refused.add(verdict);
    };
    const lane = async (limiter: Limiter, caller: Caller): Promise<void> => {
      while (full < FULL_WINDOWS) record(await limiter.charge({ ...caller, surface: SURFACE }), caller);
    };
    await Promise.all(
      limiters.flatMap((limiter) => callers.flatMap((caller) => [lane(limiter, caller), lane(limiter, caller)])),
    );
    expect(full).to.be.at.least(FULL_WINDOWS);
    return windows;
  }
});
