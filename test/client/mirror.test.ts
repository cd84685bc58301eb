import { expect } from "chai";
import { type MirrorOptions, type MirrorRow, OnboardingClient } from "../../src/client/index.ts";
import { createCopies } from "../support/copies.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { errorOf, recorded, useGateway } from "./support.ts";

/** A feed of two pages, by the cursor that asks for them. Candidate 1 was erased since. */
const FEED: Record<string, object> = {
  "": { data: [{ id: "cand_1" }, { id: "cand_2" }], has_more: true, cursor: "after 2" },
  "after 2": { data: [{ id: "cand_1", deleted: true }], has_more: false, cursor: "after 3" },
  "after 3": { data: [], has_more: false, cursor: "after 3" },
};

describe("the client's mirror", () => {
  const gateway = useGateway();
  beforeEach(() => {
    gateway.answer = ({ url = "" }, response) => {
      const cursor = new URL(url, gateway.url).searchParams.get("cursor") ?? "";
      response.end(JSON.stringify(FEED[cursor]));
    };
  });
  function start(options: MirrorOptions = {}) {
    const { client, sent } = recorded({ baseUrl: gateway.url, apiKey: "k" });
    return {
      mirror: client.mirror(options),
      asked: () => sent.map(({ url }) => new URL(url).searchParams.get("cursor")),
    };
  }

  it("has the cursor of a page only after all of its rows were taken", async () => {
    const { mirror } = start();
    const seen: unknown[] = [];
    for await (const row of mirror) seen.push([row.id, row.deleted === true, mirror.cursor]);
    expect(seen).to.deep.equal([
      ["cand_1", false, undefined],
      ["cand_2", false, undefined],
      ["cand_1", true, "after 2"],
    ]);
    expect(mirror.cursor).to.equal("after 3");
  });

  it("ends with an error if an answer does not lead on", async () => {
    for (const answer of [
      { data: [], has_more: true, cursor: "same" },
      { data: [], has_more: false },
    ]) {
      gateway.answer = (_, response) => response.end(JSON.stringify(answer));
      const { mirror, asked } = start({ cursor: "same" });
      const reading = (async () => {
        for await (const row of mirror) expect.fail(JSON.stringify(row));
      })();
      expect(await errorOf(reading)).to.have.property("message", "The service's answer does not lead on in the feed.");
      expect(asked()).to.deep.equal(["same"]);
      expect(mirror.cursor).to.equal("same");
    }
  });

  it("gives a page again that could not be stored", async () => {
    const { mirror, asked } = start();
    const full = new Error("the disk is full");
    const pages: MirrorRow[][] = [];
    const store = async (works: (page: number) => boolean): Promise<void> => {
      for await (const { rows, cursor } of mirror.pages()) {
        expect(mirror.cursor, "the cursor before the page is stored").not.to.equal(cursor);
        if (!works(pages.push(rows))) throw full;
      }
    };
    expect(await errorOf(store((page) => page < 2))).to.equal(full);
    expect(mirror.cursor).to.equal("after 2");
    await store(() => true);
    expect(asked()).to.deep.equal([null, "after 2", "after 2"]);
    expect(pages.map((rows) => rows.length)).to.deep.equal([2, 1, 1]);
    expect(mirror.cursor).to.equal("after 3");
  });

  it("goes on from a cursor, and with `every` asks again at the end", async () => {
    const { mirror, asked } = start({ cursor: "after 2", every: 0.01 });
    let pages = 0;
    for await (const page of mirror.pages()) {
      expect(page.cursor).to.equal("after 3");
      if (++pages === 3) break;
    }
    expect(asked()).to.deep.equal(["after 2", "after 3", "after 3"]);
  });

  it("asks for 1,000 rows of a page, or for as many as it is told", async () => {
    for (const [options, limit] of [
      [{}, "1000"],
      [{ limit: 7 }, "7"],
    ] as const) {
      const { client, sent } = recorded({ baseUrl: gateway.url, apiKey: "k" });
      const rows: MirrorRow[] = [];
      for await (const row of client.mirror(options)) rows.push(row);
      expect(rows).to.deep.equal([{ id: "cand_1" }, { id: "cand_2" }, { id: "cand_1", deleted: true }]);
      expect(sent.map(({ url }) => new URL(url).searchParams.get("limit"))).to.deep.equal([limit, limit]);
    }
  });
});

describe("the client's mirror.verify", () => {
  const service = useService();
  const account = useAccount(service);
  const SAME = { missing: [], extra: [], different: [] };
  const create = (count: number, changes = {}) =>
    createCopies(service.operators, account.client, { count, body: {}, changes });
  /** @param onPage is called before each page is asked for. */
  function start(options: MirrorOptions = {}, onPage = async (_page: number): Promise<unknown> => undefined) {
    let pages = 0;
    const fetchPage: typeof fetch = async (...args) => {
      await onPage(pages++);
      return await fetch(...args);
    };
    return new OnboardingClient({ baseUrl: service.url, apiKey: account.key, fetch: fetchPage }).mirror(options);
  }
  async function mirrored() {
    const mirror = start();
    const copy = new Map<string, number>();
    for await (const row of mirror) if (!row.deleted) copy.set(row.id, row.version);
    return { copy, cursor: mirror.cursor };
  }

  it("says what a copy lacks, has too much, or has in another version", async () => {
    const [lost = "", old = ""] = await create(5);
    const [deleted = ""] = await create(1, { deleted: true });
    const { copy, cursor } = await mirrored();
    expect(await start({ cursor, limit: 2 }).verify(copy)).to.deep.equal({ checked: 5, ...SAME });
    copy.delete(lost);
    copy.set(old, 7).set(deleted, 1).set("cand_of another account", 1);
    expect(await start({ cursor }).verify(copy)).to.deep.equal({
      checked: 5,
      missing: [{ id: lost, version: 1 }],
      extra: [deleted, "cand_of another account"],
      different: [{ id: old, version: 1, has: 7 }],
    });
  });

  it("takes rows from a database, too, and leaves out what the service cannot show", async () => {
    const ids = await create(2);
    const damaged = await create(2, { row_form: 0, metadata: "{" });
    const rows = async function* () {
      for (const id of [...ids, damaged[0]!]) yield { id, version: 1, name: "Ada" };
    };
    expect(await start().verify(rows())).to.deep.equal({ checked: 2, ...SAME });
  });

  it("leaves out what changed after the mirror's cursor, also while it reads", async () => {
    const [changed = "", erased = ""] = await create(3);
    const { copy, cursor } = await mirrored();
    const changes = [
      () => account.client.patch(`/candidates/${changed}`, { name: "Grace" }),
      () => account.client.post("/candidates"),
      () => account.client.request("DELETE", `/candidates/${erased}`),
    ];
    const verified = await start({ cursor, limit: 1 }, async (page) => await changes[page]?.()).verify(copy);
    expect(verified).to.deep.equal({ checked: 1, ...SAME });
    const { checked, missing, extra, different } = await start().verify(copy);
    expect([checked, missing.length, extra]).to.deep.equal([3, 1, [erased]]);
    expect(different).to.deep.equal([{ id: changed, version: 2, has: 1 }]);
  });

  it("leaves the mirror where it is", async () => {
    await create(1);
    const mirror = start();
    await mirror.verify([]);
    expect(mirror.cursor).to.equal(undefined);
  });
});
