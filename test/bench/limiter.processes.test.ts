import { expect } from "chai";
import { Redis } from "ioredis";
import { notPromised, wrongWith } from "./admits.ts";
import { commandsSent } from "./redis-commands.ts";
import { limiterRows } from "./rows/limiter.ts";
import { useBench } from "./use-bench.ts";

const { REDIS_URL: redisUrl = "" } = process.env;

describe("the bench's check of a limiter", () => {
  it("finds one that admits too much, or too little", () => {
    expect(wrongWith({ first: 5, second: 5 })).to.equal(undefined);
    expect(wrongWith({ first: 5, second: 0 })).to.equal(undefined);
    expect(wrongWith({ first: 6, second: 4 })).to.contain("6 requests of a key");
    expect(wrongWith({ first: 5, second: 6 })).to.contain("11 requests of an account");
    expect(wrongWith({ first: 4, second: 5 })).to.contain("4 requests of a fresh key");
  });

  it("says what a right one does not promise", () => {
    expect(notPromised({ first: 5, second: 5, retryAfter: "60" })).to.deep.equal([]);
    expect(notPromised({ first: 5, second: 0, retryAfter: null }).join()).to.match(/second key got 0.*come back/);
    expect(notPromised({ first: 5, second: 5, retryAfter: "-5" }).join()).to.contain("-5");
  });
});

describe("the bench of limiters", function () {
  this.timeout(180_000); // it takes 22 s on two free cores
  const bench = useBench();

  it("fails if it is ours that decides wrongly", async () => {
    const wrong = { id: "wrong", title: "wrong", program: "peers", env: {}, also: "", ours: true } as const;
    expect((await limiterRows(bench(), [wrong])).failed).to.equal(true);
  });
});

describe("the bench's counter of Redis commands", () => {
  it("counts what clients send, and not what scripts run", async () => {
    const [redis, other] = [new Redis(redisUrl), new Redis(redisUrl)];
    const name = `bench-commands-${process.pid}`;
    let isOver = false;
    // Redis may send the first of these commands together with its answer to MONITOR.
    const busy = (async () => {
      while (!isOver) await other.hlen(name);
    })();
    try {
      const sent = await commandsSent(redis, async () => {
        await redis.eval(
          "redis.call('hincrby', KEYS[1], 'n', 1) return redis.call('hincrby', KEYS[1], 'n', 1)",
          1,
          name,
        );
        await redis.hstrlen(name, "n");
      });
      expect(sent.get("hstrlen")).to.equal(1);
      expect(sent.get("eval")).to.equal(1);
      expect(sent.get("hincrby")).to.equal(undefined);
    } finally {
      isOver = true;
      await busy;
      await redis.del(name);
      redis.disconnect();
      other.disconnect();
    }
  });
});
