import { setImmediate } from "node:timers/promises";
import type { Redis } from "ioredis";
import { expect } from "chai";
import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import { connectRedis } from "../../src/infra/redis.ts";
import { limiterOver, newCaller } from "../limiter/support.ts";
import { withOptions } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { standStill } from "../support/stand-still.ts";
import { useStarted } from "../support/use-started.ts";

/** The time-out of a charge and of an operation of the store. The servers have most of it to reply after a standstill. */
const TIMEOUT_MS = 1_500;
/** Duration of a standstill. It exceeds TIMEOUT_MS, and the second after which a silent connection to Redis is closed. */
const STANDSTILL_MS = 2_000;

describe("while this process stands still, and Redis and MongoDB respond:", () => {
  const redis = useStarted(
    "Redis",
    () => connectRedis({ url: process.env["REDIS_URL"] ?? "", timeoutMs: TIMEOUT_MS }) as Promise<Redis>,
    (client) => client.disconnect(),
  );
  const options = { maxPoolSize: "1" };
  const mongo: Mongo = useStarted(
    "MongoDB",
    () => connectMongo({ url: withOptions(testConfig().MONGODB_URL ?? "", options), timeoutMs: TIMEOUT_MS }),
    (client) => client.close(),
  );

  it("a charge that was sent is decided", async () => {
    const limiter = limiterOver(redis, { timeoutMs: TIMEOUT_MS });
    const charged = limiter.charge({ ...newCaller(), surface: "reads" });
    await setImmediate();
    standStill(STANDSTILL_MS);
    expect((await charged).verdict).to.equal("admitted");
  });

  it("a charge that was about to be sent is sent again, with a later deadline", async () => {
    const limiter = limiterOver(redis, { timeoutMs: TIMEOUT_MS });
    const { stream } = redis;
    const write = stream.write.bind(stream);
    stream.write = (data: string) => {
      stream.write = write;
      standStill(STANDSTILL_MS);
      return write(data);
    };
    const { verdict, key } = await limiter.charge({ ...newCaller(), surface: "reads" });
    expect({ verdict, used: key.limit - key.remaining }).to.deep.equal({ verdict: "admitted", used: 1 });
  });

  it("the connection to Redis stays, and so does a command that waits for its reply", async () => {
    const { stream } = redis;
    const answered = redis.ping();
    await setImmediate();
    standStill(STANDSTILL_MS);
    expect(await answered).to.equal("PONG");
    expect(redis.stream).to.equal(stream);
    expect(stream.destroyed).to.equal(false);
  });

  it("operations of the store end well, also one that waits for a connection, and the connection stays", async () => {
    const closed: string[] = [];
    mongo.client.on("connectionClosed", ({ reason }) => closed.push(reason));
    const ping = () => mongo.bounded("ping admin", (limits) => mongo.db.command({ ping: 1 }, limits));
    await ping();
    const answered = Promise.all([ping(), ping()]);
    await setImmediate();
    standStill(STANDSTILL_MS);
    for (const reply of await answered) expect(reply).to.include({ ok: 1 });
    expect(closed).to.deep.equal([]);
  });
});
