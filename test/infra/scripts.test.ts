import { createHash, randomUUID } from "node:crypto";
import { expect } from "chai";
import { runScript } from "../../src/infra/scripts.ts";
import { useTestRedis } from "../limiter/support.ts";

describe("a script", () => {
  const redis = useTestRedis();
  const scriptOf = (lua: string) => ({ lua, sha1: createHash("sha1").update(lua).digest("hex") });

  it("is not run again if it fails: it may have written something before", async () => {
    const script = scriptOf("redis.call('INCR', KEYS[1]) return redis.error_reply('FAILED after its write')");
    await redis.script("LOAD", script.lua);
    const key = `test-${randomUUID()}`;
    const error = await runScript(redis, script, [key], [], (reply) => reply).catch((reason: unknown) => reason);
    expect(String(error)).to.include("FAILED after its write");
    expect(await redis.get(key)).to.equal("1");
  });

  it("is sent as text if Redis does not have it, and is then run once", async () => {
    const script = scriptOf(`-- ${randomUUID()}\nreturn redis.call('INCR', KEYS[1])`);
    const key = `test-${randomUUID()}`;
    for (const count of [1, 2]) expect(await runScript(redis, script, [key], [], Number)).to.equal(count);
  });
});
