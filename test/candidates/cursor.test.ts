import { decodeCursor } from "../../src/candidates/feed.ts";
import { feedPosition } from "../../src/candidates/stored.ts";
import type { Checkpoint } from "../../src/candidates/checkpoints.ts";
import { expect } from "chai";
import { until } from "../erasure/support.ts";
import { useAccount, useService } from "../support/use-service.ts";

/** Above CLOCK_SKEW_MS and STORE_TIMEOUT_MS together, so that no candidate of these tests is older than that. */
const STORE_TIMEOUT_MS = 60_000;

describe("the cursor at the end of GET /candidates", () => {
  const service = useService({ STORE_TIMEOUT_MS, LIMIT_SCALE: 1000 });
  const { client } = useAccount(service);

  it("stays behind the clock by the longest time that a write may take", async () => {
    await client.post("/candidates");
    const { cursor, data } = (await client.get("/candidates")).body;
    expect(data).to.have.length(1);
    const { after, safe } = decodeCursor(cursor);
    expect(after).to.equal(safe);
    expect(after < feedPosition(Date.now() - STORE_TIMEOUT_MS), after).to.equal(true);
  });

  it("stays behind the mark of a process that may still write", async () => {
    const marks = service.operators.mongo.db.collection<Checkpoint>("feed_marks");
    const complete_until = Date.now() - 3_600_000;
    await marks.insertOne({ _id: "another process", complete_until, round: 1 });
    await client.post("/candidates");
    const read = async () => decodeCursor((await client.get("/candidates")).body.cursor).after;
    await until(async () => (await read()) === feedPosition(complete_until));
    await marks.deleteOne({ _id: "another process" });
    await until(async () => (await read()) > feedPosition(complete_until));
  });

  it("is part of the page's entity tag: a client gets the later cursor though the rows are the same", async () => {
    await client.post("/candidates");
    const first = await client.get("/candidates");
    const tag = first.headers.get("etag") ?? "";
    await until(async () => {
      const again = await client.get("/candidates", { "If-None-Match": tag });
      if (again.status === 304) return false;
      expect(again.body.cursor).not.to.equal(first.body.cursor);
      expect(again.body.data).to.deep.equal(first.body.data);
      return true;
    });
  });
});

describe("GET /candidates?updated_since", () => {
  const service = useService({ STORE_TIMEOUT_MS });
  const { client } = useAccount(service);

  it("begins before that time by the longest time that a write may take", async () => {
    const { updated_at } = (await client.post("/candidates")).body;
    const after = (ms: number) => new Date(Date.parse(updated_at) + ms).toISOString();
    const rows = async (ms: number) => (await client.get(`/candidates?updated_since=${after(ms)}`)).body.data.length;
    expect(await rows(STORE_TIMEOUT_MS)).to.equal(1);
    expect(await rows(STORE_TIMEOUT_MS + 60_000)).to.equal(0);
  });
});
