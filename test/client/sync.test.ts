import { expect } from "chai";
import { type Candidate, type CandidateInput, type SyncProgress, SyncRefused } from "../../src/client/index.ts";
import { createCopies } from "../support/copies.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { errorOf, recorded, syncing } from "./support.ts";

const KEY = { key: "external_id" } as const;

describe("the client's sync", () => {
  const service = useService();
  const account = useAccount(service);
  const start = (options: { maxWait?: number } = {}) =>
    recorded({ baseUrl: service.url, apiKey: account.key, ...options });
  const { run, mirrored } = syncing(service, account);
  const rowsOf = (count: number): CandidateInput[] =>
    Array.from({ length: count }, (_, n) => ({ external_id: `row-${n}`, name: `Name ${n}` }));

  it("creates what is new, changes what differs, and sends what is unchanged to nobody", async () => {
    const first = await run(rowsOf(5));
    expect(first.result).to.include({ created: 5, updated: 0, unchanged: 0, gone: 0 });
    expect(first.requests).to.deep.equal(["GET /candidates", "POST /candidates/bulk"]);
    const rows = rowsOf(6).map((row, n) => (n === 2 ? { ...row, name: "Renamed", metadata: { round: "2" } } : row));
    const second = await run(rows);
    expect(second.result).to.include({ created: 1, updated: 1, unchanged: 4 });
    expect(second.result.changes).to.deep.equal([
      { external_id: "row-2", action: "update", fields: ["name", "metadata"] },
      { external_id: "row-5", action: "create" },
    ]);
    expect(second.requests).to.deep.equal(["GET /candidates", "PATCH /candidates/bulk", "POST /candidates/bulk"]);
    const before = await mirrored();
    const third = await run(rows);
    expect(third.result).to.deep.equal({
      created: 0,
      updated: 0,
      unchanged: 6,
      gone: 0,
      failed: [],
      warnings: [],
      changes: [],
    });
    expect(third.requests).to.deep.equal(["GET /candidates"]);
    expect(await mirrored(), "no feed row").to.deep.equal(before);
    expect([...before.values()].find(({ external_id }) => external_id === "row-2")).to.include({ name: "Renamed" });
    expect(await account.used()).to.include({ create: 6, writes: 1 });
  });

  it("does the work of a night in 7 requests, its comparison with a mirror included", async () => {
    await createCopies(service.operators, account.client, { count: 400 });
    const mirror = await mirrored();
    const rows: CandidateInput[] = Array.from(mirror.values(), ({ external_id, email }, n) =>
      n < 30 ? { external_id, email, name: `Renamed ${n}` } : { external_id, email },
    ).slice(0, 395);
    rows.push(...Array.from({ length: 5 }, (_, n) => ({ external_id: `new-${n}`, name: "New" })));
    const { result, requests } = await run(rows, { mirror: mirror.values(), gone: "erase" });
    expect(result).to.include({ created: 5, updated: 30, unchanged: 365, gone: 5 });
    expect(requests).to.have.length(7);
    const after = await run(rows);
    expect(after.result).to.include({ created: 0, updated: 0, unchanged: 400, gone: 0 });
    expect(after.requests, "a feed page of 1,000").to.deep.equal(["GET /candidates"]);
  });

  it("leaves, withdraws or erases what is gone, and once only", async () => {
    await run(rowsOf(12));
    const left = rowsOf(10);
    expect((await run(left)).result).to.deep.include({ gone: 2, changes: [] });
    const withdrawn = await run(left, { gone: "withdraw" });
    expect(withdrawn.result).to.include({ gone: 2, unchanged: 10 });
    expect(withdrawn.requests).to.deep.equal(["GET /candidates", "PATCH /candidates/bulk"]);
    expect((await run(left, { gone: "withdraw" })).result).to.deep.include({ gone: 0, changes: [] });
    const mirror = await mirrored();
    const erased = await run(left, { gone: "erase", mirror: mirror.values() });
    expect(erased.result).to.include({ gone: 2 });
    expect(erased.requests).to.have.length(2);
    const late = await run(left, { gone: "erase", mirror: mirror.values() });
    expect(late.result, "a mirror that does not know it yet").to.deep.include({ gone: 2, failed: [] });
    expect((await run(left, { gone: "erase" })).result).to.deep.include({ gone: 0, changes: [] });
  });

  it("refuses to withdraw or erase many, until it is told how many may be", async () => {
    await run(rowsOf(4));
    for (const [rows, gone] of [
      [[], "erase"],
      [rowsOf(1), "withdraw"],
    ] as const) {
      const { client, sent } = start();
      expect(await errorOf(client.sync(rows, { ...KEY, gone }))).to.be.instanceOf(SyncRefused);
      expect(sent).to.have.length(1);
      expect((await run(rows, { gone, dryRun: true })).result.changes).to.have.length(4 - rows.length);
    }
    expect((await run(rowsOf(2), { gone: "erase" })).result).to.include({ gone: 2 });
    expect((await run([], { gone: "erase", maxGone: 2 })).result).to.include({ gone: 2 });
  });

  it("refuses rows that cannot be matched, before it sends anything", async () => {
    const { client, sent } = start();
    const rows = [{ external_id: "a" }, { external_id: " a" }, { external_id: " " }, {}];
    const error = await errorOf(client.sync(rows, KEY));
    expect(error).to.be.instanceOf(SyncRefused);
    expect(error)
      .to.have.property("message")
      .that.matches(/external_id a, row 2 has no external_id, row 3 has no external_id\.$/);
    expect(sent).to.have.length(0);
  });

  it("says what it would change, and sends nothing but the reads of the feed", async () => {
    const { result, requests } = await run(rowsOf(2), { dryRun: true });
    expect(result).to.deep.equal({
      created: 2,
      updated: 0,
      unchanged: 0,
      gone: 0,
      failed: [],
      warnings: [],
      changes: [
        { external_id: "row-0", action: "create" },
        { external_id: "row-1", action: "create" },
      ],
    });
    expect(requests).to.deep.equal(["GET /candidates"]);
  });

  it("goes on past rows that are refused, and says which and why", async () => {
    const rows = rowsOf(3).map((row, n) => (n === 1 ? { ...row, email: "nobody" } : row));
    const { result } = await run(rows);
    expect(result).to.include({ created: 2 });
    expect(result.failed).to.have.length(1);
    expect(result.failed[0]?.external_id).to.equal("row-1");
    expect(result.failed[0]?.problem).to.include({ code: "validation_failed", status: 422 });
  });

  it("sends what a limit leaves, and goes on later where it ended", async () => {
    const { client, sent } = start();
    const progress: SyncProgress[] = [];
    const rows = rowsOf(170);
    await client.createCandidates([{ name: "Ada" }]); // 99 are left
    const error = await errorOf(client.sync(rows, { ...KEY, onProgress: (now) => void progress.push(now) }));
    expect(error).to.include({ name: "RateLimitError", surface: "create", remaining: 0 });
    const asked = sent.slice(1).map(({ url, answered }) => [new URL(url).searchParams.get("count"), answered?.status]);
    expect(asked).to.deep.equal([
      [null, 200],
      ["100", 429],
      ["99", 200],
    ]);
    expect(progress).to.have.length(1);
    expect(progress[0]).to.include({ done: 99, total: 170, created: 99, failed: 0 });
    expect(progress[0]?.etaSeconds).to.be.above(0);
    const { result } = await run(rows, { dryRun: true });
    expect(result).to.include({ created: 71, unchanged: 99 });
  });

  it("takes rows and a mirror as they come, and a number for an external_id", async () => {
    const { client } = start();
    async function* rows(): AsyncGenerator<CandidateInput> {
      yield* [{ external_id: 4711 as unknown as string, name: "Ada" }];
    }
    async function* mirror(): AsyncGenerator<Candidate> {
      yield* (await mirrored()).values();
    }
    expect(await client.sync(rows(), { ...KEY, mirror: mirror() })).to.include({ created: 1 });
    expect(await client.sync(rows(), { ...KEY, mirror: mirror() })).to.include({ created: 0, unchanged: 1 });
    expect((await client.readCandidate("external:4711")).name).to.equal("Ada");
  });
});
