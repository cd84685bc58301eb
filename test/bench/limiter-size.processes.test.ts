import { expect } from "chai";
import { Redis } from "ioredis";
import { admit, callsOf, fillAccounts, lookUpAccounts, numberedCall } from "./charges.ts";
import { fillWithCopies } from "./copied-accounts.ts";
import { withEmptyDatabase } from "./empty-database.ts";
import { windowThatEndsIn } from "./rows/limiter-edge.ts";
import { PER_KEY } from "../../src/limiter/surfaces.ts";
import { useRedisServer } from "../support/servers.ts";

const WINDOW_SECONDS = 86_400;

/** Returns at which growth Redis writes its append-only file anew, in percent. */
async function rewritesOf(url: string): Promise<string> {
  const redis = new Redis(url);
  const [, percentage = ""] = await redis
    .config("GET", "auto-aof-rewrite-percentage")
    .finally(() => redis.disconnect());
  return percentage;
}

describe("the bench of what one Redis bears", () => {
  const server = useRedisServer();
  const filling = { windowSeconds: WINDOW_SECONDS, until: Infinity, signal: new AbortController().signal };

  it("fills a database of its own, and leaves it empty and the server as it was", async () => {
    const rewrites = await rewritesOf(server.url);
    await withEmptyDatabase(server.url, async ({ charges, redis }) => {
      await fillAccounts(charges, 1, WINDOW_SECONDS);
      expect(await redis.dbsize()).to.be.above(0);
      expect(await rewritesOf(server.url)).to.equal("0");
    });
    await withEmptyDatabase(server.url, async ({ redis }) => expect(await redis.dbsize()).to.equal(0));
    expect(await rewritesOf(server.url)).to.equal(rewrites);
  });

  it("does not empty a database that has keys", async () => {
    await withEmptyDatabase(server.url, async ({ redis }) => {
      await redis.set("mine", "1");
      const refused = await withEmptyDatabase(server.url, async () => "measured").catch(
        (error: Error) => error.message,
      );
      expect(refused).to.contain("it has keys");
      expect(await redis.get("mine")).to.equal("1");
    });
  });

  it("copies accounts that are charged like those that it charged itself", async () => {
    await withEmptyDatabase(server.url, async (filled) => {
      expect(await fillWithCopies({ ...filling, ...filled }, 1010, 10)).to.equal(1010);
      for (const n of [0, callsOf(1) - 1, callsOf(1001), callsOf(1010) - 1]) {
        const call = numberedCall(n, WINDOW_SECONDS);
        const used = PER_KEY[call.surface];
        expect(await admit(filled.charges, call), `${n}`).to.include({ keyUsed: used + 1, accountUsed: 2 * used + 1 });
      }
      await lookUpAccounts(filled.charges, 1010, 1011);
      expect(await admit(filled.charges, numberedCall(callsOf(1010), WINDOW_SECONDS))).to.include({ keyUsed: 1 });
    });
  });

  it("says how many accounts there are if the time was too short", async () => {
    await withEmptyDatabase(server.url, async (filled) => {
      const until = performance.now();
      expect(await fillWithCopies({ ...filling, ...filled, until }, 1010, 10)).to.equal(10);
    });
  });

  it("finds a window that ends when it is wanted", () => {
    for (const [seconds, now] of [
      [60, 1_795_000_000.25],
      [3.5, 1_795_000_003],
      [75, 1_795_003_599.9],
    ] as const) {
      const length = windowThatEndsIn(seconds, now);
      const left = length - (now % length);
      expect(left, `${seconds} s`).to.be.within(seconds, seconds + 5);
      expect(Number.isInteger(length), `${length}`).to.equal(true);
    }
  });
});
