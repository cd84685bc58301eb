import { expect } from "chai";
import type { MirrorOptions, MirrorRow } from "../../src/client/index.ts";
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

  it("asks for 200 rows of a page, or for as many as it is told", async () => {
    for (const [options, limit] of [
      [{}, "200"],
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
