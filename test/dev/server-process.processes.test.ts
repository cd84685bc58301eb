import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "chai";
import { askRedisPid } from "../../src/dev/redis.ts";
import { type ServerSpec, adopt, launch } from "../../src/dev/server-process.ts";
import { isAlive } from "../../src/dev/servers-file.ts";
import { startRedis } from "../support/servers.ts";
import { program, useFolder } from "./support.ts";

describe("a server process", () => {
  const folder = useFolder();

  it("returns once it is started, and is gone once it is stopped", async () => {
    const redis = await startRedis();
    expect(await askRedisPid(redis.url)).to.equal(redis.pid);
    await redis.stop();
    expect(isAlive(redis.pid)).to.equal(false);
  });

  it("that responds too late is asked again", async () => {
    let asked = 0;
    let started = 0;
    const spec: ServerSpec = {
      name: "a server",
      command: process.execPath,
      args: (port) => ["-e", `require("net").createServer().listen(${port}, "127.0.0.1")`],
      url: (port) => `tcp://127.0.0.1:${port}`,
      log: join(folder(), "logs/server.log"),
      async askPid() {
        if (++asked < 3) throw new Error("It did not answer in time.");
        return started;
      },
    };
    const server = await launch(spec, { onSpawn: ({ pid }) => (started = pid) });
    expect(asked).to.equal(3);
    await server.stop();
  });

  it("that does not start is reported with the last line of its log", async () => {
    const spec: ServerSpec = {
      name: "a server",
      command: program(join(folder(), "server"), "echo some; echo 'Bad luck.' >&2; exit 3"),
      args: () => [],
      url: (port) => `tcp://127.0.0.1:${port}`,
      log: join(folder(), "logs/server.log"),
      askPid: async () => 0,
    };
    const error: unknown = await launch(spec).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(String(error)).to.include("a server did not start: Bad luck.").and.include(spec.log);
    expect(readFileSync(spec.log, "utf8")).to.equal("some\nBad luck.\n");
  });
});

describe("adopt", () => {
  it("finds a server that is still running, and can stop it", async () => {
    const redis = await startRedis();
    const adopted = await adopt("redis", redis, askRedisPid);
    expect(adopted).to.include({ url: redis.url, pid: redis.pid });
    await adopted?.stop();
    expect(isAlive(redis.pid)).to.equal(false);
    await redis.stop();
  });

  it("returns undefined if another process responds at its address", async () => {
    const redis = await startRedis();
    expect(await adopt("redis", { url: redis.url, pid: process.pid }, askRedisPid)).to.equal(undefined);
    expect(isAlive(redis.pid)).to.equal(true);
    await redis.stop();
  });

  it("throws if the server does not respond, so that no second one starts on its data", async () => {
    const redis = await startRedis();
    redis.pause();
    const error: unknown = await adopt("redis", redis, askRedisPid).then(
      () => undefined,
      (error: unknown) => error,
    );
    redis.resume();
    await redis.stop();
    expect(String(error)).to.include(`process ${redis.pid}`).and.include("does not answer");
  });

  it("returns undefined if its process has ended and another listens on its port", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await adopt("redis", { url: `redis://127.0.0.1:${port}`, pid: 2 ** 30 }, askRedisPid)).to.equal(undefined);
    other.close();
  });
});
