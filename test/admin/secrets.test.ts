import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { hashKey, makeKey } from "../../src/accounts/key.ts";
import type { NewKeyView } from "../../src/accounts/view.ts";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import { Client } from "../support/client.ts";
import { testConfig } from "../support/service.ts";
import { useProcesses } from "../support/use-service.ts";
import { admin, answerOf, serversOf } from "./support.ts";

/** What a key looks like wherever it might turn up, whole or in part. */
const SECRET = /cos_live_[0-9A-Za-z]{6}/;

describe("the secret of a key", function () {
  this.timeout(60_000);
  const { MONGODB_URL } = testConfig();
  const servers = serversOf({ MONGODB_URL, REDIS_URL: process.env.REDIS_URL ?? "" });
  const service = useProcesses({ LOG_LEVEL: "trace", MONGODB_URL: MONGODB_URL ?? "" });
  let redis: RedisClient;
  /** Everything the commands wrote, but for the answers that show a key the one time. */
  const written: string[] = [];
  /** Every answer's headers and body. */
  const answered: string[] = [];
  const secrets: string[] = [];
  before(async () => {
    redis = await connectRedis({ url: process.env.REDIS_URL ?? "", timeoutMs: 5_000 });
    await live();
  });
  after(() => redis?.disconnect());

  /** All that a key goes through, good and bad. */
  async function live(): Promise<void> {
    const { id: account } = (await answerOf(["accounts", "create", "--name", "Acme"], servers)) as { id: string };
    const { id, key } = (await answerOf(
      ["keys", "create", "--account", account, "--name", "ats"],
      servers,
    )) as NewKeyView;
    const wrong = [makeKey(randomBytes), `${key.slice(0, -1)}_`, `${key}${key}`];
    secrets.push(key, ...wrong);
    const ask = async (presented: string) => {
      const client = new Client(service.url, presented);
      const place = encodeURIComponent(presented);
      for (const answer of [
        await client.get("/candidates"),
        await client.get("/limits"),
        await client.post("/candidates", { name: 1 }),
        await client.get("/candidates", { Authorization: `Basic ${presented}` }),
        await client.get("/candidates", { "X-API-Key": `${presented}x` }),
        await client.get(`/candidates?api_key=1`, { Authorization: presented }),
        await client.get("/candidates", { Authorization: "", "X-API-Key": presented, "X-Request-Id": "mine" }),
      ]) {
        answered.push(JSON.stringify([...answer.headers]), JSON.stringify(answer.body));
      }
      // A key in the wrong place: the answer to whoever put it there may name it, no log may.
      await client.get(`/candidates?api_key=${place}`);
      await client.get(`/${place}`);
    };
    for (const presented of secrets) await ask(presented);
    const rotated = (await answerOf(["keys", "rotate", id, "--grace-seconds", "0"], servers)) as NewKeyView;
    secrets.push(rotated.key);
    await ask(key);
    await ask(rotated.key);
    for (const args of [
      ["keys", "list", "--account", account],
      ["keys", "revoke", id],
      ["keys", "rotate", id, "--grace-seconds", "0"],
      ["keys", "revoke", key],
      ["accounts", "list"],
      ["audit", "list"],
      ["limits", "show", "--account", account],
      ["config"],
    ]) {
      const { stdout, stderr } = await admin(args, servers);
      written.push(stdout, stderr);
    }
    await ask(rotated.key);
  }

  it("is in no log line", () => {
    const log = service.log.map((line) => JSON.stringify(line));
    expect(log).to.have.length.above(40);
    for (const line of log) expect(line).to.not.match(SECRET);
  });

  it("is in no answer and no problem", () => {
    expect(answered).to.have.length.above(40);
    for (const text of answered) expect(text).to.not.match(SECRET);
  });

  it("is written by no command but the one that makes it", () => {
    for (const text of written)
      expect(text)
        .to.not.match(SECRET)
        .and.not.match(/[0-9a-f]{64}/);
  });

  it("is no argument and no setting of any process", function () {
    if (process.platform !== "linux") this.skip(); // there is no /proc to read
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    for (const pid of processes) {
      for (const file of ["cmdline", "environ"]) {
        const text = readIfThere(`/proc/${pid}/${file}`);
        for (const secret of secrets) expect(text.includes(secret), `${file} of ${pid}`).to.equal(false);
      }
    }
  });

  it("is in nothing that the operators' port tells", async () => {
    for (const path of ["/livez", "/readyz"]) {
      const answer = await fetch(`${service.opsUrl}${path}`);
      expect(answer.status, path).to.equal(200);
      expect(JSON.stringify([...answer.headers]) + (await answer.text()), path).to.not.match(SECRET);
    }
  });

  it("is in neither store: MongoDB has its hash where it is looked up, Redis not even that", async () => {
    const { db } = service.operators.mongo;
    for (const { name } of await db.listCollections().toArray()) {
      if (name.startsWith("content")) continue;
      const stored = JSON.stringify(await db.collection(name).find().toArray());
      expect(stored, name).to.not.match(SECRET);
      if (!["secrets", "accounts"].includes(name))
        for (const secret of secrets) expect(stored, name).to.not.include(hashKey(secret));
    }
    const names = await redis.keys("*");
    expect(names).to.not.have.length(0);
    for (const name of names) {
      expect(name).to.not.match(SECRET);
      for (const secret of secrets) expect(name).to.not.include(hashKey(secret));
    }
  });

  it("is in no example that a shell would keep in its history", () => {
    const examples = readFileSync("README.md", "utf8") + readFileSync("src/dev/demo.ts", "utf8");
    expect(examples).to.not.match(SECRET);
    expect(examples).to.not.match(/admin -- [^\n]*--(key|secret)[ =]"?(\$KEY|cos_live)/);
  });
});

/** A process may end, or be another user's, while it is looked at. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
