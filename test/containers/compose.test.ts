import { SETTLE_WITHIN_MS } from "../../src/candidates/checkpoints.ts";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { makeKey } from "../../src/accounts/key.ts";
import { onPath } from "../../src/dev/programs.ts";
import { MAX_STOP_MS } from "../../src/process/drain.ts";
import type { Limits } from "../../src/limits/schema.ts";
import { download } from "../pack/support.ts";
import { type Answer, Client } from "../support/client.ts";
import { LoadClient } from "../support/load.ts";
import { useStarted } from "../support/use-started.ts";
import { print } from "./support/image.ts";
import { newClients } from "./support/network.ts";
import { eventually, evaluate, podman } from "./support/podman.ts";
import { newStack, type Stack } from "./support/stack.ts";

const K6_SCRIPT = "test/load/exactness.js";
/** Time that a test of limits takes. It must fit into one window. */
const NEEDED_SECONDS = 60;

/** Number of reads that must succeed after a replica was killed. */
const READS_AFTER_KILL = 100;

/** Default of STORE_TIMEOUT_MS: the maximum time of a stopping replica's last store operation. */
const STORE_TIMEOUT_MS = 5_000;

describe("docker-compose.yml", function () {
  this.timeout(300_000);
  const stack = useStarted("The stack", startStack, (started: Stack) => started.down({ volumes: true }));

  async function startStack(): Promise<Stack> {
    const started = performance.now();
    const made = await newStack();
    await made.up().catch(async (error: unknown) => {
      await made.down({ volumes: true });
      throw error;
    });
    print(`up in ${((performance.now() - started) / 1000).toFixed(0)} s`);
    return made;
  }

  const replicas = () => stack.containers("service");

  /** Creates an account with the command line of a replica. Returns a client of the balancer for each of its keys. */
  async function account(keys: number): Promise<[Client, ...Client[]]> {
    const [first = ""] = await replicas();
    return newClients(first, stack.url, keys);
  }

  async function createLimits(client: Client): Promise<Limits["surfaces"][number]> {
    const { surfaces } = (await client.get("/limits")).body as unknown as Limits;
    const found = surfaces.find(({ surface }) => surface === "create");
    if (found === undefined) throw new Error("GET /limits has no surface create.");
    return found;
  }

  /** Waits for the next window if this one ends soon. */
  async function withRoomInWindow(client: Client): Promise<void> {
    const { reset } = await createLimits(client);
    if (reset < NEEDED_SECONDS) await setTimeout((reset + 1) * 1000);
  }

  it("starts three ready replicas behind the balancer, which uses them all", async () => {
    const all = await replicas();
    expect(all).to.have.length(3);
    const [client] = await account(1);
    for (const replica of all) {
      const ready = 'fetch("http://127.0.0.1:9090/readyz").then(({ status }) => console.log(status))';
      expect(await evaluate(replica, ready)).to.equal("200");
    }
    // The balancer chooses the replica with the fewest requests in progress, so only concurrent requests reach all.
    await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => client.get("/limits")));
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      for (const replica of all) expect(await podman("logs", replica)).to.contain('"endpoint":"readLimits"');
    });
  });

  it("gives each replica the time that the longest drain takes", async () => {
    for (const replica of await replicas()) {
      const seconds = await podman("container", "inspect", "--format={{.Config.StopTimeout}}", replica);
      expect(Number(seconds) * 1000).to.be.above(MAX_STOP_MS + SETTLE_WITHIN_MS + STORE_TIMEOUT_MS);
    }
  });

  it("holds the limits of an account and its keys exactly", async () => {
    const alone = await account(1);
    await withRoomInWindow(alone[0]);
    const limits = await createLimits(alone[0]);
    const [single] = await offerCreates(alone, limits.key.limit + 30);
    expect(single).to.equal(limits.key.limit);
    const keys = await account(3);
    const admitted = await offerCreates(keys, limits.key.limit + 30);
    const total = admitted.reduce((sum, count) => sum + count, 0);
    print(`create: ${single} of one key alone; ${admitted.join(" + ")} = ${total} of three keys`);
    expect(total).to.equal(limits.account.limit);
    expect(Math.max(...admitted)).to.be.at.most(limits.key.limit);
  });

  it(`holds every limit exactly under k6 (${K6_SCRIPT})`, async function () {
    if (onPath("k6") === undefined || !existsSync(K6_SCRIPT)) this.skip();
    const keys = (await account(3)).map(({ key }) => key).join(",");
    const env = { BASE_URL: stack.url, KEYS: keys };
    const settings = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    const { stdout } = await promisify(execFile)("k6", ["run", "--quiet", ...settings, K6_SCRIPT]);
    for (const line of stdout.trim().split("\n")) print(line);
  });

  it("passes 25 MiB on in both directions", async () => {
    const [client] = await account(1);
    const { body } = await client.post("/candidates", { documents: ["Scan"] });
    const path = `/candidates/${body.id}/documents/${body.documents[0]?.id}/content`;
    const bytes = randomBytes(25 * 1024 * 1024);
    const headers = { "Content-Type": "application/octet-stream" };
    expect((await client.request("PUT", path, { headers, body: bytes })).status).to.equal(200);
    const received = await download(client, path);
    expect(sha256(received.bytes)).to.equal(sha256(bytes));
  });

  it("fails no read when a replica is killed, and a retried write is done once", async () => {
    const [client] = await account(1);
    const load = new LoadClient(stack.url, 8);
    const failures: string[] = [];
    const ids = new Set<string>();
    let reads = 0;
    let over = false;
    const reading = Array.from({ length: 4 }, async () => {
      for (; !over; reads++) {
        const answer = await load
          .send({ method: "GET", path: "/limits", key: client.key })
          .catch((error: Error) => ({ status: 0, body: error.message }));
        if (answer.status !== 200) failures.push(`${answer.status} ${answer.body}`);
      }
    });
    const writing = Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 20; n++) ids.add(await createOnce(client));
    });
    const [, second = ""] = await replicas();
    while (ids.size < 20) await setTimeout(10);
    await podman("kill", "--signal=KILL", second);
    const readsBefore = reads;
    await Promise.all(writing);
    while (reads < readsBefore + READS_AFTER_KILL) await setTimeout(10);
    over = true;
    await Promise.all(reading);
    load.close();
    expect(failures).to.deep.equal([]);
    const listed = (await client.get("/candidates?limit=200")).body.data.map(({ id }) => id);
    expect(listed).to.have.members([...ids]);
    expect(ids.size).to.equal(80);
    print(`${reads} reads around the kill, 0 failed`);
  });

  it("keeps candidates, keys and counts when it goes down and comes up again", async () => {
    const [client] = await account(1);
    const created = (await client.post("/candidates", { name: "Ada" })).body;
    const before = await createLimits(client);
    await stack.down();
    expect(await podman("ps", "--all", "--quiet")).to.equal("");
    await stack.up();
    expect((await client.get(`/candidates/${created.id}`)).body).to.deep.equal(created);
    const after = await createLimits(client);
    expect(after.account.used).to.equal(after.reset_at === before.reset_at ? 1 : 0);
  });

  it("believes no address that the client itself puts into X-Forwarded-For", async () => {
    // This is the last test, because the replicas then refuse every unknown key of this address for a minute.
    const answers: Answer[] = [];
    // Each replica refuses an address after 20 wrong keys.
    for (let n = 0; n < 70; n++) {
      const guesser = new Client(stack.url, makeKey(randomBytes));
      answers.push(await guesser.get("/limits", { "X-Forwarded-For": `203.0.113.${n}` }));
    }
    expect(answers.map(({ status }) => status)).to.include(401);
    expect(answers.at(-1)?.body).to.include({ status: 429, scope: "address" });
  });
});

/** Sends creates with all keys at once. @returns the number of admitted creates of each key. */
async function offerCreates(clients: readonly Client[], each: number): Promise<number[]> {
  return Promise.all(
    clients.map(async ({ url, key }) => {
      const load = new LoadClient(url, 8);
      const send = () => load.send({ method: "POST", path: "/candidates", key, body: "{}" });
      const answers = await Promise.all(Array.from({ length: each }, send));
      load.close();
      const failed = answers.filter(({ status }) => status !== 201 && status !== 429);
      expect(failed.map(({ status, body }) => `${status} ${body}`)).to.deep.equal([]);
      return answers.filter(({ status }) => status === 201).length;
    }),
  );
}

/** Creates a candidate as a careful client does: retries with the same Idempotency-Key until it succeeds. @returns its id. */
async function createOnce(client: Client): Promise<string> {
  const headers = { "Idempotency-Key": randomUUID() };
  for (;;) {
    const answer = await client.post("/candidates", {}, headers).catch(() => undefined);
    if (answer?.status === 201) return answer.body.id;
    // 409: the replica that died had begun. Another replica takes the work over.
    if (answer !== undefined && ![409, 502, 503, 504].includes(answer.status))
      throw new Error(JSON.stringify(answer.body));
    await setTimeout(Number(answer?.headers.get("retry-after") ?? 0.1) * 1000);
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
