import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { createLog } from "../../src/infra/log.ts";
import { startReplica } from "../../src/process/replica.ts";
import { UsageCounter } from "../../src/usage/counter.ts";
import { openOperators } from "../support/operators.ts";
import { newAccount, testConfig } from "../support/service.ts";
import { useNoService } from "../support/use-service.ts";

type Uses = ReadonlyMap<string, string>;

const HOUR_MS = 3_600_000;
/** Longer than any test, because no test that uses it waits for it. */
const LONG_MS = 60_000;

/** Returns a store that keeps what it is told to write. `response` decides how each write ends. */
function storeOf(response: () => Promise<void> = async () => undefined) {
  const written: Uses[] = [];
  const setLastUsed = (uses: Uses): Promise<void> => {
    written.push(uses);
    return response();
  };
  return { written, setLastUsed };
}

/** Returns a response of a store that fails at the first write. */
function failingOnce(): () => Promise<void> {
  let writes = 0;
  return async () => {
    if (++writes === 1) throw new Error("down");
  };
}

/** Returns a time in the first minute of 1970, as the store gets it. */
function second(seconds: number): string {
  return new Date(1000 * seconds).toISOString();
}

/** Returns how many timers keep this process alive. */
function livingTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

describe("the last uses of keys", () => {
  useNoService();
  let now = 0;
  /** @param accounts is told when keys were last used. */
  const counterOf = (accounts: ReturnType<typeof storeOf>) => {
    const log = { warn: () => undefined };
    return new UsageCounter({ store: { write: async () => undefined }, accounts, log, clock, writer: "me" });
  };
  const clock = { now: () => now };
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  it("writes the latest use of every key, all of them together, and not at a use", async () => {
    const store = storeOf();
    const lastUsed = counterOf(store);
    for (const [seconds, ids] of [
      [1, ["key_a", "key_b"]],
      [2, ["key_a", "key_a"]],
      [3, ["key_c"]],
    ] as const) {
      now = 1000 * seconds;
      for (const id of ids) lastUsed.note(id);
    }
    await setImmediate();
    expect(store.written).to.deep.equal([]);
    await lastUsed.stop(LONG_MS);
    expect(store.written).to.deep.equal([
      new Map([
        ["key_a", second(2)],
        ["key_b", second(1)],
        ["key_c", second(3)],
      ]),
    ]);
  });

  it("writes nothing if no key was used since the last write", async () => {
    const store = storeOf();
    const lastUsed = counterOf(store);
    await lastUsed.stop(LONG_MS);
    lastUsed.note("key_a");
    await lastUsed.stop(LONG_MS);
    await lastUsed.stop(LONG_MS);
    expect(store.written).to.have.length(1);
  });

  it("writes for the first time after a random part of the period, then after every period until it is stopped", async () => {
    mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    mock.method(Math, "random", () => 0.25);
    const store = storeOf();
    const lastUsed = counterOf(store);
    lastUsed.start();
    const writes: number[] = [];
    for (const ms of [12_499, 1, 49_999, 1, 50_000]) {
      lastUsed.note("key_a");
      mock.timers.tick(ms);
      writes.push(store.written.length);
      await setImmediate();
    }
    expect(writes).to.deep.equal([0, 1, 1, 2, 3]);
    await lastUsed.stop(LONG_MS);
    lastUsed.note("key_a");
    mock.timers.tick(HOUR_MS);
    expect(store.written).to.have.length(3);
  });

  it("does not begin if it is stopped before the first write", async () => {
    mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    const store = storeOf();
    const lastUsed = counterOf(store);
    lastUsed.start();
    await lastUsed.stop(LONG_MS);
    lastUsed.note("key_a");
    mock.timers.tick(HOUR_MS);
    expect(store.written).to.deep.equal([]);
  });

  it("keeps no process alive, neither before the first write nor after it", async () => {
    await setImmediate(); // now mocha's own timer runs
    mock.method(Math, "random", () => 0);
    const before = livingTimers();
    const living: number[] = [];
    await new Promise<void>((resolve) => {
      const store = storeOf(async () => {
        living.push(livingTimers());
        resolve();
      });
      const lastUsed = counterOf(store);
      lastUsed.note("key_a");
      lastUsed.start();
      living.push(livingTimers());
    });
    expect(living).to.have.length(2);
    expect(Math.max(...living), "timers of others may end meanwhile").to.be.at.most(before);
  });

  it("writes a failed batch again, but a later use of a key instead of the earlier one", async () => {
    const store = storeOf(failingOnce());
    const lastUsed = counterOf(store);
    now = 1000;
    for (const id of ["key_a", "key_b"]) lastUsed.note(id);
    const failing = lastUsed.stop(LONG_MS);
    await Promise.resolve(); // now the write has begun
    now = 2000;
    lastUsed.note("key_b");
    await failing;
    expect(store.written).to.have.length(1);
    await lastUsed.stop(LONG_MS);
    expect(store.written[1]).to.deep.equal(
      new Map([
        ["key_a", second(1)],
        ["key_b", second(2)],
      ]),
    );
  });

  it("writes once at a time, and again for what was used during a write", async () => {
    const ends: (() => void)[] = [];
    const store = storeOf(() => new Promise((resolve) => ends.push(resolve)));
    const lastUsed = counterOf(store);
    now = 1000;
    lastUsed.note("key_a");
    const first = lastUsed.stop(LONG_MS);
    await setImmediate();
    lastUsed.note("key_b");
    const next = lastUsed.stop(LONG_MS);
    await setImmediate();
    expect(store.written).to.deep.equal([new Map([["key_a", second(1)]])]);
    ends[0]!();
    await first;
    await setImmediate();
    expect(store.written[1]).to.deep.equal(new Map([["key_b", second(1)]]));
    ends[1]!();
    await next;
    expect(store.written).to.have.length(2);
  });

  it("stops within the time that it is given", async () => {
    const lastUsed = counterOf(storeOf(() => new Promise(() => undefined)));
    lastUsed.note("key_a");
    await lastUsed.stop(1);
  });

  describe("through the API", () => {
    const silent = () => createLog("debug", { write: () => undefined });

    it("is null in the list of keys until the key is used, and ignores refused requests", async () => {
      const config = testConfig();
      const start = mock.method(UsageCounter.prototype, "start");
      const [replica, operators] = await Promise.all([startReplica(config, silent()), openOperators(config)]);
      try {
        expect(start.mock.callCount()).to.equal(1);
        const account = await newAccount(operators, `http://127.0.0.1:${replica.port}`);
        const idle = await account.another();
        const shown = async () =>
          new Map((await operators.accounts.listKeys(account.id)).data.map((key) => [key.id, key.last_used_at]));
        expect([...(await shown()).values()]).to.deep.equal([null, null]);
        await operators.accounts.revokeKey(idle.keyId);
        expect((await idle.client.get("/limits")).status).to.equal(401);
        const before = Date.now() - 2_000; // the service's clock lags behind Redis's by up to one response time
        expect((await account.client.get("/candidates")).status).to.equal(200);
        await replica.stop(); // it writes what it remembers
        const used = await shown();
        expect(Date.parse(used.get(account.keyId) ?? "")).to.be.within(before, Date.now());
        expect(used.get(idle.keyId)).to.equal(null);
      } finally {
        await replica.stop();
        await operators.mongo.db.dropDatabase();
        await operators.close();
      }
    });
  });
});
