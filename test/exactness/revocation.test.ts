import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { connectRedis } from "../../src/infra/redis.ts";
import { adminProcess, answerOf, serversOf } from "../admin/support.ts";
import { accountWithKeys } from "../support/processes.ts";
import { useRedisServer } from "../support/servers.ts";
import { hammer, type Load, type Sample } from "../support/replicas.ts";
import { useReplicas } from "../support/use-service.ts";

const REPLICAS = 8;
/** Longer than a rotation takes under this load. */
const GRACE_SECONDS = 4;
const PATHS = ["/candidates?limit=1", "/limits"];

describe(`ending a key on ${REPLICAS} replicas under load`, function () {
  this.timeout(180_000);
  const redis = useRedisServer();
  // High limits and long timeouts, so that nothing is rate limited and a slow machine is not mistaken for an outage.
  const settings = { LIMIT_SCALE: 100_000, LIMITER_TIMEOUT_MS: 10_000, STORE_TIMEOUT_MS: 30_000 };
  const replicas = useReplicas(REPLICAS, () => ({ ...settings, REDIS_URL: redis.url }));
  let load: Load | undefined;
  afterEach(async () => {
    await load?.stop();
    load = undefined;
  });

  const operator = (...args: string[]) => answerOf(args, serversOf(replicas.config), adminProcess);

  /** Loads every replica with two keys of one account and one key of another, until all replicas have cached all keys. */
  async function underLoad(): Promise<{
    accountId: string;
    keyId: string;
    key: string;
    sibling: string;
    stranger: string;
    load: Load;
  }> {
    const account = await accountWithKeys(replicas.first, 2);
    const other = await accountWithKeys(replicas.first, 1);
    const [key, sibling, stranger] = [
      account.keys[0]!.client.key,
      account.keys[1]!.client.key,
      other.keys[0]!.client.key,
    ];
    load = hammer(replicas, [key, sibling, stranger], PATHS);
    await load.answeredAll();
    expect(statuses(load.samples)).to.deep.equal(["200"]);
    return { accountId: account.id, keyId: account.keys[0]!.id, key, sibling, stranger, load };
  }

  const flush = async () => {
    const client = await connectRedis({ url: redis.url, timeoutMs: 5_000 });
    await client.flushall();
    client.disconnect();
  };

  /** Ends the load. Asserts that every replica refused the key from that moment on, and never refused the other two. */
  async function expectRefusedSince(
    moment: number,
    { key, sibling, stranger, load: running }: Awaited<ReturnType<typeof underLoad>>,
  ): Promise<void> {
    await running.answeredAll();
    await running.stop();
    expect(statuses(since(running, moment, key))).to.deep.equal(["401"]);
    expect(statuses([...since(running, 0, sibling), ...since(running, 0, stranger)])).to.deep.equal(["200"]);
  }

  it("refuses the revoked key, and no other key, on all replicas from the first request after the command", async () => {
    const keys = await underLoad();
    await operator("keys", "revoke", keys.keyId);
    await expectRefusedSince(performance.now(), keys);
  });

  it("refuses the revoked key from then on even if Redis is flushed right after the command", async () => {
    const keys = await underLoad();
    await operator("keys", "revoke", keys.keyId);
    const revokedAt = performance.now();
    await keys.load.answeredAll();
    await flush();
    await expectRefusedSince(revokedAt, keys);
  });

  it("refuses every key of a suspended account from the first request after the command until the account is resumed", async () => {
    const { accountId, key, sibling, stranger, load: running } = await underLoad();
    await operator("accounts", "suspend", accountId);
    const suspendedAt = performance.now();
    await running.answeredAll();
    const resuming = performance.now();
    await operator("accounts", "resume", accountId);
    const resumedAt = performance.now();
    await running.answeredAll();
    await running.stop();
    const own = [...since(running, suspendedAt, key), ...since(running, suspendedAt, sibling)];
    expect(statuses(own.filter(({ answeredAt }) => answeredAt < resuming))).to.deep.equal(["403"]);
    expect(statuses(own.filter(({ sentAt }) => sentAt >= resumedAt))).to.deep.equal(["200"]);
    expect(statuses(since(running, 0, stranger))).to.deep.equal(["200"]);
  });

  it("refuses a rotated key's old secret when its grace ends, and never the new secret", async () => {
    const { keyId, key, sibling, stranger, load: running } = await underLoad();
    const rotated = await replicas.first.operators.accounts.rotateKey({ keyId, graceSeconds: GRACE_SECONDS });
    const rotatedAt = performance.now(); // on a slow machine perhaps after the end
    // Redis and all replicas run on this machine and share its clock.
    const endsAt = Date.parse(rotated.previous_secret_expires_at ?? "") - Date.now() + performance.now();
    const renewed = hammer(replicas, [rotated.key], PATHS);
    await setTimeout(Math.max(0, endsAt - performance.now()));
    await Promise.all([running.answeredAll(), renewed.answeredAll()]);
    await Promise.all([running.stop(), renewed.stop()]);
    const old = since(running, 0, key);
    const apart = 5; // tolerance in ms: Date.now() and performance.now() are not read at the same instant
    expect(statuses(old.filter(({ answeredAt }) => answeredAt < endsAt - apart))).to.deep.equal(["200"]);
    expect(statuses(old.filter(({ sentAt }) => sentAt > Math.max(endsAt + apart, rotatedAt)))).to.deep.equal(["401"]);
    expect(statuses([...renewed.samples, ...since(running, 0, sibling), ...since(running, 0, stranger)])).to.deep.equal(
      ["200"],
    );
  });
});

function since({ samples }: Load, sentAfter: number, key: string): Sample[] {
  return samples.filter((sample) => sample.key === key && sample.sentAt >= sentAfter);
}

function statuses(samples: readonly Sample[]): string[] {
  return [
    ...new Set(
      samples.map(({ status, path }) =>
        status === 200 || status === 401 || status === 403 ? `${status}` : `${status} at ${path}`,
      ),
    ),
  ];
}
