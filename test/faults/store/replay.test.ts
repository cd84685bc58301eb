import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { MongoClient, type ObjectId } from "mongodb";
import { admin as run } from "../../admin/support.ts";
import { OnboardingClient } from "../../../src/client/index.ts";
import { Client } from "../../support/client.ts";
import { expectClosed, isServed, until, useCopies } from "./copies.ts";

const [PEOPLE, ERASED, WITH_FILES] = [2_000, 1_500, 20];
/** Maximum duration of the replay, in milliseconds. */
const REPLAYED_WITHIN_MS = 120_000;
const EPOCH = "2026-01-01T00:00:00Z";

describe("A restore of a backup from before 1,500 erasures", function () {
  this.timeout(600_000); // it erases 1,500 people twice, one after the other
  const { copy, start, startServers, startReplica, stop, admin, mongoUrl, redisUrl } = useCopies();
  const settings = { LIMIT_SCALE: 1_000 };
  const env = () => ({ MONGODB_URL: mongoUrl(), REDIS_URL: redisUrl(), ADMIN_ACTOR: "ann" });

  /** A copy of the candidates that are there, as a client keeps it. */
  class Copy {
    readonly rows = new Map<string, string | null>();
    cursor: string | undefined;

    async follow(url: string, apiKey: string): Promise<void> {
      const mirror = new OnboardingClient({ baseUrl: url, apiKey }).mirror({ cursor: this.cursor });
      for await (const row of mirror)
        if (row.deleted) this.rows.delete(row.id);
        else this.rows.set(row.id, row.name);
      this.cursor = mirror.cursor;
    }
  }

  /** Counts what there is of people. The stand-in for MongoDB finds chunks by their file only. @param files all that there were. */
  async function stored(files: readonly ObjectId[]) {
    const mongo = await MongoClient.connect(mongoUrl());
    try {
      const all = (name: string, filter = {}) => mongo.db().collection(name).find(filter).toArray();
      const chunks = await Promise.all(files.map((file) => all("content.chunks", { files_id: file })));
      return {
        files: (await all("content.files")).map(({ _id }) => _id),
        chunks: chunks.flat().length,
        pending: (await all("content_pending")).length,
        references: (await all("reference_index")).length,
        living: (await all("candidates", { state: { $ne: "deleted" } })).length,
        unfinished: (await all("candidates", { "erasure.at": { $gt: "" } })).length,
      };
    } finally {
      await mongo.close();
    }
  }

  it("brings nobody back once they are replayed: not to the API, not to a mirror, not as bytes", async () => {
    const service = await start({ redis: "live", mongo: "live" }, settings);
    const account = await service.account();
    const ids: string[] = [];
    for (let n = 0; n < PEOPLE; n += 100) {
      const people = Array.from({ length: 100 }, (_, k) => ({
        name: `Person ${n + k}`,
        documents: ["Passport"],
        references: n + k < 100 ? [{ name: "Ann" }] : [],
      }));
      const { body } = await account.client.post("/candidates/bulk?count=100", { candidates: people });
      ids.push(...(body as unknown as { results: { id: string }[] }).results.map(({ id }) => id));
    }
    const files: string[] = [];
    for (let n = 0; n < WITH_FILES; n++) {
      const { body } = await account.client.get(`/candidates/${ids[n * (PEOPLE / WITH_FILES)]}`);
      const content = `/candidates/${body.id}/documents/${body.documents[0]?.id}/content`;
      const headers = { "Content-Type": "text/plain" };
      expect((await account.client.request("PUT", content, { headers, body: Buffer.from(body.id) })).status).to.equal(
        200,
      );
      files.push(content);
    }
    const before = await stored([]);
    expect(before.files).to.have.length(WITH_FILES);
    const [ahead, behind] = [new Copy(), new Copy()];
    await behind.follow(service.url, account.key);
    expect(behind.rows).to.have.length(PEOPLE);
    await stop();
    copy("live", "backup");

    const live = await start({ redis: "live", mongo: "live" }, settings);
    const client = new Client(live.url, account.key);
    const created = (await client.post("/candidates", { name: "After the backup" })).body.id;
    const erased = [...ids.slice(0, ERASED), created];
    const queue = [...erased];
    const worker = async () => {
      for (let id = queue.shift(); id !== undefined; id = queue.shift())
        expect((await client.request("DELETE", `/candidates/${id}`)).status).to.equal(204);
    };
    await Promise.all(Array.from({ length: 4 }, worker));
    await ahead.follow(live.url, account.key);
    await admin("restore", "begin");
    const { stdout } = await run(["erasures", "export", "--since", EPOCH], env());
    const file = join(process.env.TMPDIR ?? "/tmp", `erasures-${account.id}.ndjson`);
    await writeFile(file, stdout);
    await stop();

    copy("backup", "restored", ["mongo"]);
    copy("live", "restored", ["redis"]);
    await startServers({ redis: "restored", mongo: "restored" });
    await admin("restore", "begin");
    const restored = await startReplica(settings);
    await expectClosed(restored, account.key);
    await admin("accounts", "announce");
    const began = Date.now();
    const report = await admin("erasures", "replay", file, "--yes");
    const seconds = (Date.now() - began) / 1000;
    expect(report).to.deep.equal({
      object: "erasure_replay",
      lines: ERASED + 1,
      erased: ERASED,
      already_erased: 0,
      not_there: 1,
      on_hold: [],
      failed: [],
    });
    expect(seconds * 1000).to.be.below(REPLAYED_WITHIN_MS);
    const left = WITH_FILES - (WITH_FILES * ERASED) / PEOPLE;
    const { files: kept, ...counts } = await stored(before.files);
    expect(kept).to.have.length(left);
    expect(counts).to.deep.equal({ chunks: left, pending: 0, references: 0, living: PEOPLE - ERASED, unfinished: 0 });
    await admin("restore", "end");
    const again = new Client(restored.url, account.key);
    await until(() => again.get("/limits"), isServed);
    const statuses = new Set<number>();
    for (const id of erased) statuses.add((await again.get(`/candidates/${id}`)).status);
    expect([...statuses]).to.deep.equal([410]);
    for (const content of files.slice(-left)) expect((await again.get(content)).status).to.equal(200);

    await ahead.follow(restored.url, account.key);
    await behind.follow(restored.url, account.key);
    const fresh = new Copy();
    await fresh.follow(restored.url, account.key);
    const whole = new Map(ids.map((id, n) => [id, `Person ${n}`] as const).slice(ERASED));
    for (const each of [fresh, ahead, behind])
      expect(Object.fromEntries(each.rows)).to.deep.equal(Object.fromEntries(whole));
  });
});
