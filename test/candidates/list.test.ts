import { expect } from "chai";
import { type Answer, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("GET /candidates", () => {
  const service = useService();
  const { client } = useAccount(service);

  async function create(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push((await client.post("/candidates", { external_id: `e${n}` })).body.id);
    return ids;
  }
  const idsOf = ({ body }: Answer) => body.data.map(({ id }) => id);

  it("gives a new account with an empty page and a cursor for the next poll", async () => {
    const { status, body } = await client.get("/candidates");
    expect(status).to.equal(200);
    expect(body).to.deep.include({ object: "list", data: [], has_more: false });
    expect((await client.get(`/candidates?cursor=${body.cursor}`)).status).to.equal(200);
  });

  it("lists whole candidates, oldest change first, in pages that neither overlap nor skip", async () => {
    const ids = await create(5);
    const seen: string[] = [];
    let path = "/candidates?limit=2";
    for (;;) {
      const page = await client.get(path);
      seen.push(...idsOf(page));
      if (!page.body.has_more) break;
      path = `/candidates?limit=2&cursor=${page.body.cursor}`;
    }
    expect(seen).to.deep.equal(ids);
    const one = await client.get(`/candidates/${ids[0]}`);
    expect((await client.get("/candidates?limit=1")).body.data[0]).to.deep.equal(one.body);
  });

  it("lists only the account's own candidates", async () => {
    await create(1);
    const stranger = (await service.account()).client;
    expect((await stranger.get("/candidates")).body.data).to.have.length(0);
  });

  it("returns 304 while nothing has changed, and 200 once something has", async () => {
    const { body } = await client.get("/candidates");
    const path = `/candidates?cursor=${body.cursor}`;
    const etag = (await client.get(path)).headers.get("etag") ?? "";
    expect((await client.get(path, { "If-None-Match": etag })).status).to.equal(304);
    await create(1);
    expect((await client.get(path, { "If-None-Match": etag })).status).to.equal(200);
  });

  it("takes an empty cursor for none, as a first poll sends it", async () => {
    const ids = await create(2);
    expect(idsOf(await client.get("/candidates?cursor="))).to.deep.equal(ids);
    const { body } = await client.get("/candidates?cursor=&updated_since=2100-01-01T00:00:00Z");
    expect(body.data).to.deep.equal([]);
  });

  const OFFSETS: [string, RegExp][] = [
    ["2026-08-17T09:30:00.000+00:00", /write the \+ of an offset as %2B$/],
    ["2026-08-17T09:30:00+0200", /write the \+ of an offset as %2B$/],
    ["2026-08-17T09:30:00%2B0000", /write the offset with a colon, for example \+00:00$/],
    ["2026-08-17T09:30:00-05", /write the offset with a colon, for example \+00:00$/],
    ["2026-08-17", /T09:30:00.000Z$/],
  ];
  for (const [time, hint] of OFFSETS)
    it(`refuses updated_since=${time}, and says how to write it`, async () => {
      const { errors } = expectProblem(await client.get(`/candidates?updated_since=${time}`), 400, "invalid_query");
      expect(errors).to.have.length(1);
      expect(errors[0]?.pointer).to.equal("/updated_since");
      expect(errors[0]?.detail).to.match(hint);
    });

  it("takes the same offset once it is escaped", async () => {
    expect((await client.get("/candidates?updated_since=2026-08-17T09:30:00.000%2B00:00")).status).to.equal(200);
  });

  it("treats a leap second in updated_since as the end of its minute", async () => {
    await create(1);
    const response = await client.get("/candidates?updated_since=2116-12-31T23:59:60.5Z");
    expect(idsOf(response)).to.deep.equal([]);
    expect((await client.get(`/candidates?cursor=${response.body.cursor}`)).status).to.equal(200);
    expect(idsOf(await client.get("/candidates?updated_since=2016-12-31T23:59:60Z"))).to.have.length(1);
  });

  it("filters by external_id and by state", async () => {
    const ids = await create(3);
    expect(idsOf(await client.get("/candidates?external_id=e1"))).to.deep.equal([ids[1]]);
    expect((await client.get("/candidates?external_id=none")).body.data).to.have.length(0);
    expect((await client.get("/candidates?state=created")).body.data).to.have.length(3);
    expect((await client.get("/candidates?state=completed")).body.data).to.have.length(0);
  });

  it("starts at updated_since, inclusive", async () => {
    const [first] = await create(2);
    const { updated_at } = (await client.get(`/candidates/${first}`)).body;
    expect((await client.get(`/candidates?updated_since=${updated_at}`)).body.data).to.have.length(2);
    const later = new Date(Date.parse(updated_at) + 60_000).toISOString();
    expect((await client.get(`/candidates?updated_since=${later}`)).body.data).to.have.length(0);
  });

  // test/responses/candidate-steps.ts has the others.
  const REFUSED: [string, string, RegExp][] = [
    ["limit=", "/limit", /an integer|at least/],
    ["cursor=%7B%7D", "/cursor", /earlier page/],
    [`cursor=${Buffer.from("zzz").toString("base64url")}`, "/cursor", /earlier page/],
    [
      `cursor=${Buffer.from("000000000000001 000000000000001 000000000000001").toString("base64url")}`,
      "/cursor",
      /earlier/,
    ],
    ["updated_since=2026-08-17T09:30:00%2B00", "/updated_since", /timestamp with an offset/],
    ["updated_since=2026-08-17T09:30:00%2B0000", "/updated_since", /timestamp with an offset/],
    ["external=1", "/external", /external_id/],
    ["external_id=7%00", "/external_id", /visible characters/],
    ["__proto__=1", "/__proto__", /not a known field/],
  ];
  for (const [query, pointer, detail] of REFUSED) {
    it(`refuses ?${query}`, async () => {
      const { errors } = expectProblem(await client.get(`/candidates?${query}`), 400, "invalid_query");
      expect(errors[0]?.pointer).to.equal(pointer);
      expect(errors[0]?.detail).to.match(detail);
    });
  }

  describe("?q=", () => {
    const search = async (q: string) => idsOf(await client.get(`/candidates?q=${encodeURIComponent(q)}`));
    const add = async (fields: object): Promise<string> => (await client.post("/candidates", fields)).body.id;

    it("finds the beginnings of words in names, email and external_id, in any order, case and accents aside", async () => {
      const zoe = await add({ name: "Zoë Straßer-Łopez", email: "z.oconnor@example.com", external_id: "ATS-4711/b" });
      const ada = await add({ first_name: "Ada", last_name: "Lovelace" });
      const long = await add({ name: `Ada ${"x".repeat(190)}` });
      const found = ["zoe", "ZOÉ", "stras", "lop", "lope zo", "oconn", "z.oconnor@exam", "ats-4711", "4711"];
      for (const q of found) expect(await search(q), q).to.deep.equal([zoe]);
      expect(await search("ada lov")).to.deep.equal([ada]);
      expect(await search("x".repeat(90)), "a long word").to.deep.equal([long]);
      expect(await search("a"), "newest first").to.deep.equal([long, ada, zoe]);
      for (const q of ["oe", "velace", "711", "ada zoe", "lovelace adam"]) expect(await search(q), q).to.deep.equal([]);
      expect(await search("^ada$ (lov")).to.deep.equal([ada]);
      expect(await search("\u0000ada\u{1f600}lov")).to.deep.equal([ada]);
    });

    it("follows a change of name, and forgets who was erased", async () => {
      const id = await add({ name: "Ada" });
      await client.patch(`/candidates/${id}`, { name: "Grace" });
      expect([await search("ada"), await search("grace")]).to.deep.equal([[], [id]]);
      await client.request("DELETE", `/candidates/${id}`);
      expect(await search("grace")).to.deep.equal([]);
    });

    it("finds only the account's own candidates", async () => {
      await add({ name: "Ada" });
      expect((await (await service.account()).client.get("/candidates?q=ada")).body.data).to.deep.equal([]);
    });

    it("returns at most 50 in one page, charged as the list", async () => {
      const account = await service.account();
      const candidates = Array.from({ length: 55 }, (_, n) => ({ name: `Ada ${n}` }));
      await account.client.post("/candidates/bulk?count=55", { candidates });
      const path = "/candidates?q=ada&limit=1000";
      const { body, headers } = await account.client.get(path);
      expect(body.data).to.have.length(50);
      expect(body).to.include({ object: "list", has_more: false, cursor: "" });
      expect((await account.client.get("/candidates?q=ada&limit=2")).body.data).to.have.length(2);
      const held = { "If-None-Match": headers.get("etag") ?? "" };
      expect((await account.client.get(path, held)).status).to.equal(304);
      expect(await account.used()).to.deep.equal({ create: 55, list: 3 });
    });

    const CLASHES: [string, string][] = [
      ["q=", "/q"],
      ["q=...", "/q"],
      ["q=%F0%9F%98%80", "/q"],
      [`q=${"a".repeat(101)}`, "/q"],
      ["q=a&cursor=MDAw", "/cursor"],
      ["q=a&state=created", "/state"],
      ["q=a&external_id=b", "/external_id"],
      ["q=a&updated_since=2026-08-17T09:30:00Z", "/updated_since"],
    ];
    for (const [query, pointer] of CLASHES)
      it(`refuses ?${query.slice(0, 30)}, and names ${pointer}`, async () => {
        const { errors } = expectProblem(await client.get(`/candidates?${query}`), 400, "invalid_query");
        expect(errors[0]?.pointer).to.equal(pointer);
      });
  });
});
