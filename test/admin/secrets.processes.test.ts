import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { hashKey, makeKey } from "../../src/accounts/key.ts";
import type { NewKeyView } from "../../src/accounts/view.ts";
import { useTestRedis } from "../limiter/support.ts";
import { Client } from "../support/client.ts";
import { testConfig } from "../support/service.ts";
import { useProcesses } from "../support/use-service.ts";
import { adminProcess, answerOf, serversOf } from "./support.ts";

/** Matches a key, or enough of one to recognise it. */
const SECRET = /cos_live_[0-9A-Za-z]{6}/;

describe("the secret of a key", function () {
  this.timeout(60_000);
  const { MONGODB_URL } = testConfig();
  const servers = serversOf({ MONGODB_URL, REDIS_URL: process.env.REDIS_URL ?? "" });
  const service = useProcesses({ LOG_LEVEL: "trace", MONGODB_URL: MONGODB_URL ?? "" });
  const redis = useTestRedis();
  /** The output of every command except those that create a secret and show it once. */
  const commandOutput: string[] = [];
  /** The headers and body of every response. */
  const responses: string[] = [];
  const secrets: string[] = [];
  before(useKeys);

  /** Sends valid and invalid keys to the service, rotates and revokes one, and records all output. */
  async function useKeys(): Promise<void> {
    const { id: account } = (await answerOf(["accounts", "create", "--name", "Acme"], servers, adminProcess)) as {
      id: string;
    };
    const { id, key } = (await answerOf(
      ["keys", "create", "--account", account, "--name", "ats"],
      servers,
      adminProcess,
    )) as NewKeyView;
    const wrong = [makeKey(randomBytes), `${key.slice(0, -1)}_`, `${key}${key}`];
    secrets.push(key, ...wrong);
    const ask = async (presented: string) => {
      const client = new Client(service.url, presented);
      const inUrl = encodeURIComponent(presented);
      for (const answer of [
        await client.get("/candidates"),
        await client.get("/limits"),
        await client.post("/candidates", { name: 1 }),
        await client.get("/candidates", { Authorization: `Basic ${presented}` }),
        await client.get("/candidates", { "X-API-Key": `${presented}x` }),
        await client.get(`/candidates?api_key=1`, { Authorization: presented }),
        await client.get("/candidates", { Authorization: "", "X-API-Key": presented, "X-Request-Id": "mine" }),
      ]) {
        responses.push(JSON.stringify([...answer.headers]), JSON.stringify(answer.body));
      }
      // With the key in the URL, the response may repeat it, but no log may. So these responses are not recorded.
      await client.get(`/candidates?api_key=${inUrl}`);
      await client.get(`/${inUrl}`);
    };
    for (const presented of secrets) await ask(presented);
    const rotated = (await answerOf(
      ["keys", "rotate", id, "--grace-seconds", "0"],
      servers,
      adminProcess,
    )) as NewKeyView;
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
      const { stdout, stderr } = await adminProcess(args, servers);
      commandOutput.push(stdout, stderr);
    }
    await ask(rotated.key);
  }

  it("appears in no log line", () => {
    const log = service.log.map((line) => JSON.stringify(line));
    expect(log).to.have.length.above(40);
    for (const line of log) expect(line).to.not.match(SECRET);
  });

  it("appears in no response", () => {
    expect(responses).to.have.length.above(40);
    for (const text of responses) expect(text).to.not.match(SECRET);
  });

  it("is printed by no command except the one that creates it", () => {
    for (const text of commandOutput)
      expect(text)
        .to.not.match(SECRET)
        .and.not.match(/[0-9a-f]{64}/);
  });

  it("appears in no process's arguments or environment", function () {
    if (process.platform !== "linux") this.skip(); // there is no /proc to read
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    for (const pid of processes) {
      for (const file of ["cmdline", "environ"]) {
        const text = readIfThere(`/proc/${pid}/${file}`);
        for (const secret of secrets) expect(text.includes(secret), `${file} of ${pid}`).to.equal(false);
      }
    }
  });

  it("appears in no response of the operators' port", async () => {
    for (const path of ["/livez", "/readyz"]) {
      const answer = await fetch(`${service.opsUrl}${path}`);
      expect(answer.status, path).to.equal(200);
      expect(JSON.stringify([...answer.headers]) + (await answer.text()), path).to.not.match(SECRET);
    }
  });

  it("is in neither store: MongoDB has its hash only in secrets and accounts, and Redis has no hash", async () => {
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

  it("appears in no example command, because a shell would keep it in its history", () => {
    const files = ["README.md", "src/docs/operating.md", "src/dev/demo.ts"];
    const examples = files.map((file) => readFileSync(file, "utf8")).join("\n");
    expect(examples).to.not.match(SECRET);
    expect(examples).to.not.match(/admin -- [^\n]*--(key|secret)[ =]"?(\$KEY|cos_live)/);
  });
});

/** Returns "" if the file cannot be read: the process may have ended, or may belong to another user. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
