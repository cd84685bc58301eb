import { once } from "node:events";
import type { Redis } from "ioredis";
import { expect } from "chai";
import { limiterOver, newCaller } from "../limiter/support.ts";
import { useRedisClient, useRedisServer } from "../support/servers.ts";

describe("what is sent to Redis", () => {
  const server = useRedisServer();
  const redis = useRedisClient(server);
  const operator = useRedisClient(server);

  async function figure(section: string, name: RegExp): Promise<number> {
    return Number(name.exec(await operator.info(section))?.[1] ?? 0);
  }
  const reads = () => figure("stats", /^total_reads_processed:(\d+)/m);
  const runs = () => figure("commandstats", /^cmdstat_evalsha:calls=(\d+)/m);

  it("is one command for each charge, and one write for all charges of one turn of the event loop", async () => {
    const limiter = limiterOver(redis);
    const request = { ...newCaller(), surface: "reads" } as const;
    await limiter.charge(request); // the script is loaded
    const [readsBefore, runsBefore] = [await reads(), await runs()];
    await Promise.all(Array.from({ length: 50 }, () => limiter.charge(request)));
    expect((await runs()) - runsBefore).to.equal(50);
    const questions = 2; // this test asks for `runs` and `reads` again, each a read of its own
    expect((await reads()) - readsBefore - questions - 1).to.be.below(5);
  });

  it("keeps its order and its bytes if some commands are text and some have bytes", async () => {
    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    await Promise.all([redis.set("mixed", "a"), redis.append("mixed", bytes), redis.append("mixed", "b")]);
    expect(await redis.getBuffer("mixed")).to.deep.equal(Buffer.concat([Buffer.from("a"), bytes, Buffer.from("b")]));
  });

  it("is nothing if the connection closes before a command was written, and the command fails", async () => {
    const { stream } = redis as Redis;
    const failed = redis.incr("never").then(
      () => expect.fail("the command succeeded"),
      (error: Error) => error,
    );
    stream.destroy();
    expect(await failed).to.be.an.instanceOf(Error);
    await once(redis, "ready");
    expect(await operator.get("never")).to.equal(null);
    expect(await redis.incr("later")).to.equal(1);
  });
});
