import { expect } from "chai";
import { request } from "undici";
import type { Body } from "../support/client.ts";
import { useService, useSharedAccount } from "../support/use-service.ts";
import { inCoding, rawSender, type Received } from "./raw.ts";

describe("compression", () => {
  const service = useService();
  const account = useSharedAccount(service);
  const send = rawSender(service, account);
  let small: string;
  let large: string;

  before(async () => {
    const { client } = account;
    small = `/candidates/${(await client.post("/candidates", { name: "Ada" })).body.id}`;
    const documents = Array.from({ length: 10 }, (_, n) => `Certificate ${n}`);
    large = `/candidates/${(await client.post("/candidates", { name: "Zoë 山田", documents })).body.id}`;
  });

  for (const [accepted, coding] of [
    [undefined, "identity"],
    ["", "identity"],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["br", "br"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["gzip;q=0", "identity"],
    ["gzip;q=0, br;q=0.0", "identity"],
    ["identity, gzip;q=0.5", "identity"],
    ["deflate, zstd", "identity"],
    ["*", "br"],
    ["br;q=0, *;q=0.1", "gzip"],
    ["*;q=0", "identity"],
    ["identity;q=0, gzip", "gzip"],
    ["identity;q=0", "identity"],
    [`gzip${", a".repeat(1000)}`, "identity"],
  ] as const) {
    it(`responds with ${coding} to Accept-Encoding ${accepted === undefined ? "that is missing" : JSON.stringify(accepted.slice(0, 30))}`, async () => {
      const plain = await send("GET", large);
      const response = await send("GET", large, { "Accept-Encoding": accepted });
      expect(response).to.include({ status: 200, coding, text: plain.text });
      expect(response.headers.get("vary")).to.equal("Accept-Encoding");
      expect(response.headers.get("content-length")).to.equal(String(response.bytes.length));
      if (coding !== "identity") expect(response.bytes.length).to.be.below(plain.bytes.length / 4);
    });
  }

  it("has a strong entity tag for each coding", async () => {
    const tags = await Promise.all(
      (["br", "gzip", "identity"] as const).map(async (each) => (await send("GET", large, inCoding(each))).tag),
    );
    for (const tag of tags) expect(tag).to.match(/^"[\w-]+"$/);
    expect(new Set(tags).size).to.equal(3);
  });

  it("sends a small response as it is, unless its client refuses that", async () => {
    const plain = await send("GET", small, { "Accept-Encoding": "br, gzip" });
    expect(plain.coding).to.equal("identity");
    expect(plain.headers.get("vary"), "the candidate may grow").to.equal("Accept-Encoding");
    const ruby = "gzip;q=1.0,deflate;q=0.6,identity;q=0.3"; // Net::HTTP sends this by itself
    expect(await send("GET", small, { "Accept-Encoding": ruby })).to.include({ coding: "identity" });
    const coded = await send("GET", small, { "Accept-Encoding": "identity;q=0, gzip" });
    expect(coded).to.include({ coding: "gzip", text: plain.text });
  });

  it("responds with 304 to a client that has any coding that it accepts, with the tag of that copy", async () => {
    for (const coding of ["br", "gzip", "identity"] as const) {
      const { tag } = await send("GET", large, inCoding(coding));
      for (const accepted of [coding, "gzip, br"]) {
        const again = await send("GET", large, { "Accept-Encoding": accepted, "If-None-Match": `"other", W/${tag}` });
        expect(again).to.include({ status: 304, tag, text: "" });
        expect(again.headers.get("vary")).to.equal("Accept-Encoding");
        expect(again.headers.has("content-encoding")).to.equal(false);
      }
    }
  });

  it("sends the response again if the client's copy has a coding that it does not accept now", async () => {
    const { tag } = await send("GET", large, inCoding("br"));
    expect(await send("GET", large, { ...inCoding("gzip"), "If-None-Match": tag })).to.include({
      status: 200,
      coding: "gzip",
    });
    expect(await send("GET", large, { "If-None-Match": tag })).to.include({ status: 200, coding: "identity" });
  });

  for (const coding of ["br", "gzip"] as const) {
    it(`takes the entity tag of a ${coding} response in If-Match, once`, async () => {
      const { tag } = await send("GET", large, inCoding(coding));
      const change = () =>
        send("PATCH", large, { ...inCoding(coding), "If-Match": tag, json: JSON.stringify({ name: `by ${coding}` }) });
      const changed = await change();
      expect(changed).to.include({ status: 200, coding });
      expect(changed.tag).to.equal((await send("GET", large, inCoding(coding))).tag);
      const refused = await change();
      expect(refused.status).to.equal(412);
      const { current_etag } = JSON.parse(refused.text) as Body & { current_etag: string };
      expect(current_etag).to.equal((await send("GET", large)).tag);
    });
  }

  it("takes the entity tag of a compressed response with members that change by the clock", async () => {
    const { tag, coding } = await send("GET", "/settings/quiet-hours", { "Accept-Encoding": "gzip, identity;q=0" });
    expect(coding).to.equal("gzip");
    const json = JSON.stringify({ start: "22:00" });
    expect((await send("PATCH", "/settings/quiet-hours", { "If-Match": tag, json })).status).to.equal(200);
    expect((await send("PATCH", "/settings/quiet-hours", { "If-Match": tag, json })).status).to.equal(412);
  });

  it("replays a stored response in the coding of each request", async () => {
    const json = JSON.stringify({ documents: Array.from({ length: 10 }, (_, n) => `Certificate ${n}`) });
    const texts = new Set<string>();
    for (const coding of ["gzip", "br", "identity"] as const) {
      const response = await send("POST", "/candidates", { ...inCoding(coding), "Idempotency-Key": "codings", json });
      expect(response).to.include({ status: 201, coding });
      texts.add(response.text);
    }
    expect(texts.size).to.equal(1);
  });

  it("compresses a problem that is large, and has no entity tag for it", async () => {
    const json = JSON.stringify(Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`unknown_${n}`, n])));
    const plain = await send("POST", "/candidates", { json });
    const coded = await send("POST", "/candidates", { ...inCoding("gzip"), json });
    expect(coded).to.include({ status: 422, coding: "gzip", tag: "" });
    expect(coded.headers.get("content-type")).to.equal("application/problem+json");
    expect(coded.headers.get("vary")).to.equal("Accept-Encoding");
    const faults = ({ text }: Received) => (JSON.parse(text) as Body).errors;
    expect(faults(coded)).to.deep.equal(faults(plain));
    expect(coded.bytes.length).to.be.below(plain.bytes.length / 4);
    const missing = await send("GET", "/candidates/cand_none", inCoding("gzip"));
    expect(missing).to.include({ status: 404, coding: "identity" });
    expect(missing.headers.has("vary")).to.equal(false);
  });

  it("sends files as they are, whole and in part, and a pack only as JSON compressed", async () => {
    const { body } = await account.client.post("/candidates", {
      documents: [
        { name: "CV", content: { content_type: "application/json", data: Buffer.alloc(9000, "a").toString("base64") } },
      ],
    });
    const path = `/candidates/${body.id}`;
    const content = `${path}/documents/${body.documents[0]?.id}/content`;
    const accepted = { "Accept-Encoding": "br, gzip" };
    const whole = await request(service.url + content, {
      headers: { Authorization: `Bearer ${account.key}`, ...accepted },
    });
    expect(whole.headers).to.include({ "content-length": "9000", "content-type": "application/json" });
    expect(whole.headers).not.to.have.any.keys("content-encoding", "vary");
    expect(await whole.body.text()).to.equal("a".repeat(9000));
    const tag = String(whole.headers.etag);
    expect(await send("GET", content, { ...accepted, "If-None-Match": tag })).to.include({ status: 304, tag });
    const part = await request(service.url + content, {
      headers: { Authorization: `Bearer ${account.key}`, ...accepted, Range: "bytes=0-4999" },
    });
    expect(part.statusCode).to.equal(206);
    expect(part.headers).not.to.have.any.keys("content-encoding", "vary");
    expect(await part.body.text()).to.equal("a".repeat(5000));
    const zip = await request(`${service.url}${path}/pack?format=zip`, {
      headers: { Authorization: `Bearer ${account.key}`, ...accepted },
    });
    expect(zip.headers).to.include({ vary: "Accept" }).and.not.to.have.property("content-encoding");
    await zip.body.dump();
    const pack = await send("GET", `${path}/pack`, accepted);
    expect(pack.coding).to.equal("br");
    expect(pack.headers.get("vary")).to.equal("Accept, Accept-Encoding");
    expect(await send("GET", `${path}/pack`, { ...accepted, "If-None-Match": pack.tag })).to.include({
      status: 304,
      tag: pack.tag,
    });
  });

  it("responds to HEAD with the headers of GET", async () => {
    const [head, got] = [await send("HEAD", large, inCoding("gzip")), await send("GET", large, inCoding("gzip"))];
    for (const name of ["etag", "content-encoding", "content-length", "content-type", "vary"])
      expect(head.headers.get(name), name).to.equal(got.headers.get(name));
    expect(head.bytes.length).to.equal(0);
    expect((await send("HEAD", large, { ...inCoding("gzip"), "If-None-Match": got.tag })).status).to.equal(304);
  });

  it("compresses the contract, the same each time", async () => {
    const [first, again] = [
      await send("GET", "/openapi.json", inCoding("br")),
      await send("GET", "/openapi.json", inCoding("br")),
    ];
    expect(first.bytes.equals(again.bytes)).to.equal(true);
    expect(first.text).to.equal((await send("GET", "/openapi.json")).text);
    expect(first.bytes.length).to.be.below(first.text.length / 5);
  });
});
