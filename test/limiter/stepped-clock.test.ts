import { expect } from "chai";
import type { Limits } from "../../src/limits/schema.ts";
import { ledgerFields, redisKeys } from "../../src/limiter/scripts.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount } from "../support/use-service.ts";
import { clearOfMidnight, redisNow, useTestRedis } from "./support.ts";

const DAY_MS = 86_400_000;
const [ACCOUNT_LIMIT, KEY_LIMIT] = [240, 120];

/**
 * Redis's clock may step back, for example in a failover to a machine whose clock is behind. The ledger of the window that
 * was current before the step is then one window ahead. Its window goes on, so that no limit is given twice.
 */
describe("a clock that stepped back out of a window", () => {
  const account = useAccount();
  const redis = useTestRedis();
  beforeEach(() => clearOfMidnight(redis));

  const currentWindow = async () => Math.floor((await redisNow(redis)) / DAY_MS);
  const list = () => account.client.get("/candidates");
  async function used() {
    const limits = (await account.client.get("/limits")).body as unknown as Limits;
    const found = limits.surfaces.find(({ surface }) => surface === "list")!;
    return { account: found.account.used, key: found.key.used, isNextWindow: found.reset > DAY_MS / 1000 };
  }
  const setLedger = (fields: Record<string, number>) => redis.hset(redisKeys.ledger(account.id), fields);
  const ofKey = () => ledgerFields.key(account.keyId, "list");

  it("leaves the key what it has used", async () => {
    await setLedger({ window: (await currentWindow()) + 1, list: KEY_LIMIT - 1, [ofKey()]: KEY_LIMIT - 1 });
    expect(await used()).to.deep.equal({ account: KEY_LIMIT - 1, key: KEY_LIMIT - 1, isNextWindow: true });
    expect((await list()).status).to.equal(200);
    expect(expectProblem(await list(), 429, "rate_limited")).to.include({ scope: "key" });
    expect(await used()).to.deep.equal({ account: KEY_LIMIT, key: KEY_LIMIT, isNextWindow: true });
  });

  it("leaves the account what it has used, also if the key has used nothing", async () => {
    await setLedger({ window: (await currentWindow()) + 1, list: ACCOUNT_LIMIT - 1 });
    expect(await used()).to.deep.equal({ account: ACCOUNT_LIMIT - 1, key: 0, isNextWindow: true });
    expect((await list()).status).to.equal(200);
    expect(expectProblem(await list(), 429, "rate_limited")).to.include({ scope: "account" });
    expect(await used()).to.deep.equal({ account: ACCOUNT_LIMIT, key: 1, isNextWindow: true });
  });

  it("gives a key the next window only once: it is the current one until it ends", async () => {
    const window = (await currentWindow()) + 1;
    await setLedger({ window, list: KEY_LIMIT, [ofKey()]: KEY_LIMIT });
    for (let n = 0; n < 3; n++) expectProblem(await list(), 429, "rate_limited");
    expect(await redis.hmget(redisKeys.ledger(account.id), "window", ofKey())).to.deep.equal([
      `${window}`,
      `${KEY_LIMIT}`,
    ]);
  });

  it("begins the current window anew if it stepped back by more than one", async () => {
    await setLedger({ window: (await currentWindow()) + 2, list: ACCOUNT_LIMIT, [ofKey()]: KEY_LIMIT });
    expect(await used()).to.deep.equal({ account: 0, key: 0, isNextWindow: false });
    expect((await list()).status).to.equal(200);
    expect(await used()).to.deep.equal({ account: 1, key: 1, isNextWindow: false });
  });
});
