import { expect } from "chai";
import { ObjectId } from "mongodb";
import type { Stored } from "../../src/candidates/stored.ts";
import { answerTo, held, opened } from "../documents/support.ts";
import { useTestRedis } from "../limiter/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { BYTES, createPerson, filesIn, PERSON, STRINGS, tracesIn, tracesInRedis, until } from "./support.ts";

describe("DELETE /candidates/{id}", () => {
  const redis = useTestRedis();
  const service = useService({ LIMIT_SCALE: 100 });
  const account = useAccount(service);
  const { client } = account;

  it("leaves none of the person's strings in any collection or in the log", async () => {
    const { path } = await createPerson(client);
    const { mongo } = service.operators;
    const files = await filesIn(mongo);
    const places = [
      ...STRINGS.map((string) => `candidates: ${string}`),
      ...STRINGS.map((string) => `idempotency_records: ${string}`),
    ];
    expect(await tracesIn(mongo)).to.have.members([...places, "content.chunks: Zebediah"]);
    expect((await client.request("DELETE", path)).status).to.equal(204);
    expect(await tracesIn(mongo, { files })).to.deep.equal([]);
    const logged = JSON.stringify(service.log);
    for (const string of STRINGS) expect(logged).not.to.include(string);
    expect(await redis.keys(`*${account.id}*`), "keys of the limiter").not.to.deep.equal([]);
    expect(await tracesInRedis(redis)).to.deep.equal([]);
  });

  it("makes an upload in progress fail, and removes its bytes", async () => {
    const { path, content } = await createPerson(client);
    const before = await held(service);
    const upload = opened(client, "PUT", content, { "Content-Type": "text/plain", "Content-Length": 1_000_000 });
    upload.write(Buffer.alloc(600_000, "Zebediah"));
    await until(async () => (await held(service)).chunks > before.chunks);
    const files = (await service.operators.mongo.db.collection("content_pending").find().toArray()).map(
      ({ _id }) => new ObjectId(String(_id)),
    );
    expect((await client.request("DELETE", path)).status).to.equal(204);
    const response = answerTo(upload);
    upload.end(Buffer.alloc(400_000, "Zebediah"));
    expect(await response).to.deep.include({ status: 410 });
    expect(await tracesIn(service.operators.mongo, { files })).to.deep.equal([]);
  });

  it("leaves an upload alone that is in progress for another candidate", async () => {
    const { content } = await createPerson(client);
    const path = `/candidates/${(await client.post("/candidates")).body.id}`;
    const before = await held(service);
    const upload = opened(client, "PUT", content, { "Content-Type": "text/plain", "Content-Length": 1_000_000 });
    upload.write(Buffer.alloc(600_000));
    await until(async () => (await held(service)).chunks > before.chunks);
    expect((await client.request("DELETE", path)).status).to.equal(204);
    const response = answerTo(upload);
    upload.end(Buffer.alloc(400_000));
    expect(await response).to.deep.include({ status: 200 });
  });

  it("lets a create with its external_id succeed at the same time or be refused, never fail", async () => {
    for (let round = 0; round < 10; round++) {
      const external_id = `ats-Zebediah-${round}`;
      const { id } = (await client.post("/candidates", { external_id })).body;
      const [deleted, ...created] = await Promise.all([
        client.request("DELETE", `/candidates/${id}`),
        ...Array.from({ length: 4 }, () => client.post("/candidates", { external_id })),
      ]);
      expect(deleted.status).to.equal(204);
      for (const response of created) if (response.status !== 201) expectProblem(response, 409, "external_id_taken");
      expect(JSON.stringify(service.log)).not.to.include(external_id);
    }
  });

  it("returns 410 on every path of the candidate, and 204 to another DELETE", async () => {
    const { path, document, content, reference } = await createPerson(client);
    await client.request("DELETE", path);
    const responses = [
      await client.get(path),
      await client.patch(path, { name: "Zoe" }),
      await client.post(`${path}/start`),
      await client.patch(`${path}/outreach`, { docs_chase_attempts: 1 }),
      await client.post(`${path}/documents`, { name: "Visa" }),
      await client.get(document),
      await client.patch(document, { name: "Visa" }),
      await client.request("PUT", content, { body: BYTES }),
      await client.get(content),
      await client.post(`${path}/references`, {}),
      await client.get(`${path}/pack`),
    ];
    for (const response of responses) expectProblem(response, 410, "candidate_deleted");
    expectProblem(await client.get(reference), 404, "not_found");
    expect((await client.request("DELETE", path)).status).to.equal(204);
  });

  it("shows the tombstone as a row of the feed, and nothing else of it", async () => {
    const { created, path } = await createPerson(client);
    const { cursor } = (await client.get("/candidates")).body;
    await client.request("DELETE", path);
    const { data } = (await client.get(`/candidates?cursor=${cursor}`)).body;
    const row = data.at(-1) as unknown as Record<string, unknown>;
    expect(row).to.have.all.keys("object", "id", "deleted", "version", "updated_at");
    expect(row).to.include({ object: "candidate", id: created.id, deleted: true });
    const withState = (await client.get("/candidates?state=created&limit=200")).body.data;
    expect(withState.map(({ id }) => id)).not.to.include(created.id);
  });

  it("frees the external_id, and a late retry of the create does not bring the person back", async () => {
    const { created, path, creation } = await createPerson(client);
    await client.request("DELETE", path);
    expectProblem(await client.post("/candidates", PERSON, creation), 410, "candidate_deleted");
    const again = await client.post("/candidates", PERSON);
    expect(again.status).to.equal(201);
    expect(again.body.id).not.to.equal(created.id);
  });

  it("returns 412 if If-Match names an older version", async () => {
    const { path } = await createPerson(client);
    expectProblem(await client.request("DELETE", path, { headers: { "If-Match": '"old"' } }), 412, "version_mismatch");
    const etag = (await client.get(path)).headers.get("etag") ?? "";
    expect((await client.request("DELETE", path, { headers: { "If-Match": etag } })).status).to.equal(204);
  });

  it("says in the audit which key did it, once", async () => {
    const { created, path } = await createPerson(client);
    await client.request("DELETE", path);
    await client.request("DELETE", path);
    const { data } = await service.operators.audit.list(100, account.id);
    const entries = data.filter(({ subject }) => subject === created.id);
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({ actor: account.keyId, action: "candidates delete", outcome: "done" });
  });

  it("is finished with its response: nothing is left for the sweep", async () => {
    const { created, path } = await createPerson(client);
    await client.request("DELETE", path);
    const candidates = service.operators.mongo.db.collection<Stored>("candidates");
    const tombstone = await candidates.findOne({ _id: created.id });
    expect(tombstone).to.include({ deleted: true });
    expect(tombstone).not.to.have.property("erasure");
  });

  it("is 404 for another account's candidate, and leaves it alone", async () => {
    const { path } = await createPerson(client);
    const other = await service.account();
    expectProblem(await other.client.request("DELETE", path), 404, "not_found");
    expect((await client.get(path)).status).to.equal(200);
  });
});
