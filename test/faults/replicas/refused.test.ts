import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Spawned, spawnMember } from "../../support/processes.ts";
import { startSentinel, useRedisClient, useRedisServer } from "../../support/servers.ts";
import { environmentOf, testConfig } from "../../support/service.ts";
import { useStarted } from "../../support/use-started.ts";
import { startRefusingMongo } from "./refusing-mongo.ts";

const PASSWORD = "s3cret-of-redis";

describe("a process that cannot ever serve", function () {
  this.timeout(60_000);
  const redis = useRedisServer();
  const operator = useRedisClient(redis);
  const mongo = useStarted("MongoDB", startRefusingMongo, (server) => server.close());
  let dir: string;
  const sentinel = useStarted(
    "The Sentinel",
    () => {
      dir = mkdtempSync(join(tmpdir(), "onboarding-refused-"));
      const lines = [
        `dir ${dir}`,
        "requirepass s3cret-of-sentinel",
        `sentinel monitor limits 127.0.0.1 ${redis.port} 1`,
      ];
      return startSentinel(join(dir, "sentinel.conf"), lines, { password: "s3cret-of-sentinel" });
    },
    (server) => server.stop(),
  );
  before(() => operator.config("SET", "requirepass", PASSWORD));
  after(() => rmSync(dir, { recursive: true }));
  let spawned: Spawned;
  afterEach(() => spawned.end("SIGKILL"));

  const CASES: { what: string; settings: () => NodeJS.ProcessEnv; says: RegExp }[] = [
    {
      what: "Redis refuses the password",
      settings: () => ({ REDIS_URL: `redis://:s3cret-wrong@127.0.0.1:${redis.port}` }),
      says: /^Redis at redis:\/\/…@127\.0\.0\.1:\d+ cannot be used: WRONGPASS .*Check REDIS_URL\.$/,
    },
    {
      what: "Redis wants a password",
      settings: () => ({ REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
      says: /^Redis at .*: NOAUTH .*Check REDIS_URL\.$/,
    },
    {
      what: "a worker's Redis refuses the password",
      settings: () => ({ REPLICAS: "3", REDIS_URL: `redis://:s3cret-wrong@127.0.0.1:${redis.port}` }),
      says: /^Redis at .*: WRONGPASS .*Check REDIS_URL\.$/,
    },
    {
      what: "the Sentinel refuses the password",
      settings: () => ({
        REDIS_URL: `redis+sentinel://:${PASSWORD}@127.0.0.1:${sentinel.port}/limits?sentinelPassword=s3cret-wrong`,
      }),
      says: /^Redis at .*: All sentinels are unreachable.* WRONGPASS .*Check REDIS_URL\.$/,
    },
    {
      what: "MongoDB refuses the password",
      settings: () => ({ MONGODB_URL: `mongodb://ann:s3cret-wrong@127.0.0.1:${mongo.port}/onboarding` }),
      says: /^MongoDB at mongodb:\/\/…@127\.0\.0\.1:\d+\/onboarding .*: Authentication failed\.+ Check MONGODB_URL\.$/,
    },
    {
      what: "MongoDB's URL asks for other writes",
      settings: () => ({ MONGODB_URL: `mongodb://127.0.0.1:${mongo.port}/?w=1` }),
      says: /^MONGODB_URL asks for w=1\./,
    },
    {
      what: "there is no REDIS_URL",
      settings: () => ({ REDIS_URL: "" }),
      says: /^REDIS_URL and MONGODB_URL are not set/,
    },
    {
      what: "settings are wrong",
      settings: () => ({ PORT: "http", REPLICAS: "0", LOG_LEVEL: "loud" }),
      says: /^PORT: [^\n]+\nREPLICAS: [^\n]+\nLOG_LEVEL: [^\n]+$/,
    },
    { what: "its port is taken", settings: () => ({ PORT: `${redis.port}` }), says: /EADDRINUSE/ },
    { what: "its log is off", settings: () => ({ LOG_LEVEL: "silent", REDIS_URL: "" }), says: /^REDIS_URL/ },
  ];
  for (const { what, settings, says } of CASES)
    it(`ends with one line in its log if ${what}`, async () => {
      const env = environmentOf(testConfig({ LIMIT_WINDOW_SECONDS: 3_600 })); // any other value logs a warning
      spawned = await spawnMember({ ...env, ...settings() });
      const complaints = await spawned.complaints;
      const lines = spawned.log.filter(({ level }) => level > 30);
      expect(lines.map(({ level }) => level)).to.deep.equal([60]);
      expect(lines[0]?.error?.message).to.match(says);
      expect(JSON.stringify(spawned.log)).not.to.contain("s3cret");
      expect(complaints).to.equal("");
      expect(spawned.child.exitCode).to.equal(1);
    });
});
