import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { idsFrom } from "../../src/idempotency/ids.ts";
import { parseIdempotencyKey } from "../../src/idempotency/key.ts";
import { Lease } from "../../src/idempotency/lease.ts";
import { answerOrThrow, pack, storedRefusal, unpack } from "../../src/idempotency/outcome.ts";
import type { IdempotencyRecord } from "../../src/idempotency/store.ts";
import { Unstored } from "../../src/idempotency/unstored.ts";
import { Problem, problem } from "../../src/problems.ts";
import { useNoService } from "../support/use-service.ts";
import { gate } from "./workbench.ts";

describe("an Idempotency-Key", () => {
  const codeOf = (field: string) => {
    try {
      return parseIdempotencyKey(field);
    } catch (error) {
      return (error as Problem).code;
    }
  };

  it("is bare or quoted", () => {
    const KEYS: [field: string, key: string][] = [
      ["a", "a"],
      ["a b", "a b"],
      ['a"b', 'a"b'],
      ["a\\b", "a\\b"],
      ['"abc"', "abc"],
      ['" a "', " a "],
      ['"a\\"b\\\\c"', 'a"b\\c'],
      ["~", "~"],
      ["!", "!"],
      ["x".repeat(255), "x".repeat(255)],
      [`"${"x".repeat(255)}"`, "x".repeat(255)],
      [`"${'\\"'.repeat(255)}"`, '"'.repeat(255)],
    ];
    for (const [field, key] of KEYS) expect(codeOf(field), field.slice(0, 20)).to.equal(key);
  });

  it("is refused if it is empty, too long, badly quoted or not printable ASCII", () => {
    for (const field of [
      "",
      '""',
      '"',
      '"a',
      '"a"b',
      '"a\\b"',
      '"a"b"',
      " a",
      "clé",
      "a\u007f",
      '"é"',
      "x".repeat(256),
      `"${"x".repeat(256)}"`,
    ])
      expect(codeOf(field), field.slice(0, 20)).to.equal("malformed_request");
  });
});

describe("the identifiers of repeated work", () => {
  const TIME = Date.parse("2026-11-21T10:00:00.000Z");

  it("are the same for each attempt, and counted for each prefix", () => {
    const make = () => {
      const next = idsFrom("seed", TIME);
      return [next("cand"), next("doc"), next("doc"), next("ref"), next("doc")];
    };
    const ids = make();
    expect(make()).to.deep.equal(ids);
    // A later release must make the same ids: during a rollout, a retry may reach a replica that runs another release.
    expect(ids).to.deep.equal([
      "cand_01m7yrrt80f5zbdq4wk1gj9y7x",
      "doc_01m7yrrt80ergr61yd4yhdf75c",
      "doc_01m7yrrt80ewhtcpkp6thx7gkp",
      "ref_01m7yrrt80f8sssjgzw1sf0bnk",
      "doc_01m7yrrt80e6mbv451az6dfezc",
    ]);
    const alone = idsFrom("seed", TIME);
    expect([alone("doc"), alone("doc"), alone("doc")]).to.deep.equal([ids[1], ids[2], ids[4]]);
  });

  it("depend on the seed and the time", () => {
    const first = idsFrom("seed", TIME)("doc");
    expect(first).to.match(/^doc_[0-9a-z]{26}$/);
    const random = (id: string) => id.slice(-16);
    expect(random(idsFrom("other", TIME)("doc"))).to.not.equal(random(first));
    expect(idsFrom("seed", TIME + 1)("doc")).to.not.equal(first);
    expect(random(idsFrom("seed", TIME)("ref")), "of another prefix").to.not.equal(random(first));
  });
});

describe("the lease of an attempt", () => {
  useNoService();
  const record = { leaseUntil: 6_000 } as IdempotencyRecord;
  let now: number;
  let ends: number[];
  let isOurs: boolean | Error;
  const store = {
    lease: async (_record: IdempotencyRecord, until: number) => {
      ends.push(until);
      if (isOurs instanceof Error) throw isOurs;
      return isOurs;
    },
  };
  const open = () => new Lease(record, { store, clock: { now: () => now }, leaseMs: 6_000 });
  beforeEach(() => {
    [now, ends, isOurs] = [0, [], true];
    mock.timers.enable({ apis: ["setInterval"] });
  });
  afterEach(() => mock.timers.reset());

  const isSafeAt = (lease: Lease, at: number) => ((now = at), lease.isSafe());

  it("is safe while half of it is left", () => {
    const lease = open();
    expect([0, 3_000, 3_001].map((at) => isSafeAt(lease, at))).to.deep.equal([true, true, false]);
    lease.leave();
  });

  it("is renewed after each third of it, until it is left", async () => {
    const lease = open();
    mock.timers.tick(1_999);
    expect(ends).to.deep.equal([]);
    now = 2_000;
    mock.timers.tick(1);
    await setImmediate();
    expect(ends).to.deep.equal([8_000]);
    expect([5_000, 5_001].map((at) => isSafeAt(lease, at))).to.deep.equal([true, false]);
    lease.leave();
    mock.timers.tick(10_000);
    expect(ends).to.deep.equal([8_000]);
  });

  it("keeps its end if it cannot be renewed, or if another attempt has it", async () => {
    for (const outcome of [false, new Error("The store does not answer.")]) {
      isOurs = outcome;
      const lease = open();
      now = 2_000;
      mock.timers.tick(2_000);
      await setImmediate();
      expect([3_000, 3_001].map((at) => isSafeAt(lease, at))).to.deep.equal([true, false]);
      await lease.release();
      expect(ends.at(-1)).to.equal(0);
    }
  });

  it("lets another attempt begin once it is released", async () => {
    const lease = open();
    await lease.release();
    mock.timers.tick(10_000);
    expect(ends).to.deep.equal([0]);
    expect(isSafeAt(lease, 0)).to.equal(false);
  });
});

describe("a stored outcome", () => {
  it("is the answer, byte for byte", async () => {
    const answer = { status: 201, body: Buffer.from('{"name":"Zoë"}'), headers: { ETag: '"1"' } } as never;
    const stored = JSON.parse(JSON.stringify(await unpack(await pack({ answer }))));
    expect(stored).to.deep.equal({ answer: { status: 201, body: '{"name":"Zoë"}', headers: { ETag: '"1"' } } });
  });

  it("is the refusal with its headers and without its cause, and says that it is a replay only if it is one", async () => {
    const cause = new Error("secret");
    const refusal = problem("version_mismatch", "Changed.", { headers: { "X-A": "1" }, members: { a: 1 }, cause });
    const outcome = await unpack(await pack(storedRefusal(refusal)));
    const thrown = (replayed: boolean) => {
      try {
        return answerOrThrow(outcome, replayed);
      } catch (error) {
        const { code, message, extras } = error as Problem;
        return { code, message, extras };
      }
    };
    const expected = { code: "version_mismatch", message: "Changed." };
    expect(thrown(false)).to.deep.equal({ ...expected, extras: { headers: { "X-A": "1" }, members: { a: 1 } } });
    expect(thrown(true)).to.deep.equal({
      ...expected,
      extras: { headers: { "X-A": "1", "Idempotent-Replayed": "true" }, members: { a: 1 } },
    });
  });
});

describe("the answers that wait for their storing", () => {
  const MAX = 8 * 1024 * 1024;

  it("have a bounded size, which is free again once they are stored", async () => {
    const unstored = new Unstored();
    const [first, second] = [gate(), gate()];
    expect(unstored.add("one", MAX - 10, first.opened)).to.equal(true);
    expect(unstored.add("two", 11, second.opened)).to.equal(false);
    expect(unstored.add("two", 10, second.opened)).to.equal(true);
    expect(unstored.add("three", 1, second.opened)).to.equal(false);
    first.open();
    await unstored.settled("one", 60_000);
    expect(unstored.add("three", MAX - 9, second.opened)).to.equal(false);
    expect(unstored.add("three", MAX - 10, second.opened)).to.equal(true);
    second.open();
    await unstored.allSettled(60_000);
    expect(unstored.add("four", MAX, Promise.resolve())).to.equal(true);
  });

  it("are waited for by the record, and for as long as is asked", async () => {
    const unstored = new Unstored();
    const [first, second] = [gate(), gate()];
    unstored.add("one", 1, first.opened);
    unstored.add("one", 1, second.opened);
    const done: string[] = [];
    const waiting = [
      unstored.settled("one", 60_000).then(() => done.push("one")),
      unstored.allSettled(60_000).then(() => done.push("all")),
    ];
    await unstored.settled("two", 60_000);
    second.open();
    await unstored.settled("one", 1);
    await unstored.allSettled(1);
    expect(done, "the first one is still being stored").to.deep.equal([]);
    first.open();
    await Promise.all(waiting);
    expect(done).to.have.members(["one", "all"]);
  });

  it("are reported if they cannot be stored, and are then no longer waited for", async () => {
    const logged: unknown[][] = [];
    const unstored = new Unstored({ error: (...line) => void logged.push(line) });
    unstored.add("one", MAX, Promise.reject(new TypeError("odd")));
    await unstored.settled("one", 60_000);
    expect(logged).to.have.length(1);
    expect(JSON.stringify(logged)).to.include("odd").and.include("an answer could not be stored for replays");
    expect(unstored.add("one", MAX, Promise.resolve())).to.equal(true);
    new Unstored().add("two", 1, Promise.reject(new Error("nobody is told")));
    await setImmediate(); // an unhandled rejection would end the run
  });
});
