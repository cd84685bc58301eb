import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { Collection, Db } from "mongodb";
import { CandidateReader } from "../../src/candidates/reader.ts";
import { feedPosition } from "../../src/candidates/feed-clock.ts";
import type { Stored } from "../../src/candidates/stored.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { CANDIDATES } from "../faults/loop/bodies.ts";
import { createCopies } from "../support/copies.ts";
import { useAccount, useDatabase, useService } from "../support/use-service.ts";

const MIB = 1024 * 1024;

describe("the size of a page of GET /candidates", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidates: Collection<Stored>;
  before(() => {
    candidates = service.operators.mongo.db.collection("candidates");
  });

  /** Creates candidates whose records say that they have so many bytes, long ago, so that the cursor stands still. */
  async function create(sizes: readonly number[]): Promise<string[]> {
    const ids: string[] = [];
    for (const [n, size] of sizes.entries()) {
      const { id } = (await client.post("/candidates")).body;
      await candidates.updateOne({ _id: id }, { $set: { size, change: `${feedPosition(n + 1)}.${id}` } });
      ids.push(id);
    }
    return ids;
  }

  /** Follows the cursor to the end of the feed. Returns the ids of each page. */
  async function pages(limit: number): Promise<string[][]> {
    const all: string[][] = [];
    for (let cursor = ""; ;) {
      const path = `/candidates?limit=${limit}${cursor && `&cursor=${cursor}`}`;
      const { body, headers } = await client.get(path);
      all.push(body.data.map(({ id }) => id));
      const again = await client.get(path, { "If-None-Match": headers.get("etag") ?? "" });
      expect(again.status, "the same page, read without its rows").to.equal(304);
      if (!body.has_more) return all;
      ({ cursor } = body);
    }
  }

  it("is 8 MiB of records, and not one byte more", async () => {
    const [a, b, c, d, e] = await create([4 * MIB, 4 * MIB, 4 * MIB, 4 * MIB + 1, 1]);
    expect(await pages(1_000)).to.deep.equal([[a, b], [c], [d, e]]);
  });

  it("is at least one row, however large its record is", async () => {
    const [a, b] = await create([9 * MIB, 9 * MIB]);
    expect(await pages(1_000)).to.deep.equal([[a], [b]]);
  });

  it("is at most the rows that were asked for", async () => {
    const [a, b, c] = await create([1, 1, 1]);
    expect(await pages(2)).to.deep.equal([[a, b], [c]]);
    expect(await pages(3)).to.deep.equal([[a, b, c]]);
  });

  it("is at most 1,000 rows", async () => {
    const ids = await createCopies(service.operators, client, { count: 1_001, body: {} });
    for (const limit of [1_000, 1_001, 100_000])
      expect(await pages(limit), `limit=${limit}`).to.deep.equal([ids.slice(0, 1_000), ids.slice(1_000)]);
  });

  it("is 8 MiB of JSON, also if the records are much smaller", async () => {
    const body = CANDIDATES["110 documents of control characters"]?.() ?? {}; // 2 MB of JSON
    for (const changes of [{}, { row_form: 0 }]) {
      const other = await service.account();
      const ids = await createCopies(service.operators, other.client, { count: 6, body, changes });
      const seen: string[][] = [];
      for (let cursor = ""; seen.length < 2;) {
        const { body: page } = await other.client.get(`/candidates?limit=1000&cursor=${cursor}`);
        expect(JSON.stringify(page).length).to.be.below(8 * MIB + 1_000);
        expect(page.has_more).to.equal(seen.length === 0);
        seen.push(page.data.map(({ id }) => id));
        ({ cursor } = page);
      }
      expect(seen).to.deep.equal([ids.slice(0, 4), ids.slice(4)]);
    }
  });

  it("may be less if MongoDB cuts its response, and the page then says that there is more", async () => {
    const { mongo } = service.operators;
    const [a] = await create([1, 1]);
    const bounded: Mongo["bounded"] = async (name, operation) => {
      const result = await mongo.bounded(name, operation);
      const { documents } = result as { documents: Buffer[] };
      return { documents: documents.slice(0, 1), cut: true } as typeof result;
    };
    const reader = new CandidateReader({ ...mongo, bounded });
    const { rows, more } = await reader.feed({ accountId: account.id, after: "", limit: 10 });
    expect(rows.map(({ change }) => change.split(".")[1])).to.deep.equal([a]);
    expect(more).to.equal(true);
  });
});

describe("pages that are read at once", () => {
  const AT_ONCE = 16;
  const mongo = useDatabase(500);
  let running = 0;
  let open: () => void;
  let opened: Promise<void>;
  let reader: CandidateReader;
  /** The accounts whose pages were asked of the store, in that order. The store may answer in another. */
  let asked: string[];
  beforeEach(() => {
    asked = [];
    opened = new Promise((resolve) => (open = resolve));
    const command: Db["command"] = async (...args) => {
      running++;
      asked.push(/acct_\w+/.exec(JSON.stringify(args[0]))?.[0] ?? "");
      await opened;
      return await mongo.db.command(...args).finally(() => running--);
    };
    const db = new Proxy(mongo.db, { get: (of, name) => (name === "command" ? command : Reflect.get(of, name)) });
    const bounded: Mongo["bounded"] = (name, operation) => mongo.bounded(name, operation);
    reader = new CandidateReader({ ...mongo, bounded, db });
  });
  const read = (accountId: string) => reader.feed({ accountId, after: "", limit: 1_000 });

  it(`are ${AT_ONCE}, because each may take 16 MiB, and accounts take turns`, async () => {
    const accounts = [...Array<string>(3 * AT_ONCE).fill("acct_busy"), "acct_other"];
    const reads = accounts.map(read);
    await setImmediate();
    expect(running).to.equal(AT_ONCE);
    open();
    await Promise.all(reads);
    expect(asked.indexOf("acct_other"), "the second that waited").to.equal(AT_ONCE + 1);
  });

  it("wait no longer than a read may take, and the next one works again", async () => {
    const reads = Array.from({ length: 2 * AT_ONCE }, () => read("acct_busy").catch((error: unknown) => error));
    for (const error of await Promise.all(reads)) expect(error).to.have.property("code", "store_unavailable");
    open();
    expect((await read("acct_busy")).rows).to.deep.equal([]);
  });
});
