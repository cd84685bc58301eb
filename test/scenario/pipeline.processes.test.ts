import { expect } from "chai";
import type { Candidate } from "../../src/candidates/schema.ts";
import type { Client } from "../support/client.ts";
import { useProcesses, useSharedAccount } from "../support/use-service.ts";

const CANDIDATES = 50;

describe("a client that mirrors its pipeline", function () {
  this.timeout(120_000);
  const service = useProcesses({ REPLICAS: 2, LIMIT_SCALE: 100, LIMITER_TIMEOUT_MS: 5_000 });
  const { client } = useSharedAccount(service);

  const mirror = new Map<string, Candidate>();
  let cursor = "";

  /** Reads whatever has changed since the last poll. */
  async function poll(): Promise<void> {
    for (;;) {
      const { status, body } = await client.get(`/candidates?limit=20${cursor && `&cursor=${cursor}`}`);
      expect(status).to.equal(200);
      for (const candidate of body.data) mirror.set(candidate.id, candidate);
      ({ cursor } = body);
      if (!body.has_more) return;
    }
  }

  /** Expects status 200 or 201. @returns the body. */
  async function ok(answer: ReturnType<Client["get"]>) {
    const { status, body } = await answer;
    expect(status, JSON.stringify(body)).to.be.oneOf([200, 201]);
    return body;
  }

  /** Takes a candidate to completed. Rejects a document of every third one, and withdraws every fifth one for a while. */
  async function walk(n: number): Promise<void> {
    const { id } = await ok(
      client.post(
        "/candidates",
        {
          external_id: `pipeline-${n}`,
          name: `Candidate ${n}`,
          documents: ["Passport"],
          references: [{ email: "a@example.com" }],
        },
        { "Idempotency-Key": `create-${n}` },
      ),
    );
    const path = `/candidates/${id}`;
    await ok(client.post(`${path}/start`));
    const cv = await ok(
      client.post(`${path}/documents`, {
        name: "CV",
        content: { filename: "cv.txt", data: Buffer.from(`CV of ${n}`).toString("base64") },
      }),
    );
    const [passport] = (await ok(client.get(path))).documents;
    const content = `${path}/documents/${passport!.id}/content`;
    await ok(client.request("PUT", content, { body: `passport ${n}`, headers: { "Content-Type": "text/plain" } }));
    if (n % 3 === 0) {
      await ok(client.patch(`${path}/documents/${passport!.id}`, { state: "rejected", rejection_reason: "blurred" }));
      expect((await ok(client.get(path))).state).to.equal("action_required");
      await ok(
        client.request("PUT", content, { body: `passport ${n}, sharp`, headers: { "Content-Type": "text/plain" } }),
      );
    }
    if (n % 5 === 0) {
      await ok(client.patch(path, { withdrawn: true }));
      await ok(client.patch(path, { withdrawn: false, name: `Candidate ${n}, back again` }));
    }
    for (const document of [cv.id, passport!.id])
      await ok(client.patch(`${path}/documents/${document}`, { state: "accepted" }));
    const { references } = await ok(client.get(path));
    await ok(client.patch(`/references/${references[0]!.id}`, { state: "received", response: { recommends: true } }));
    expect((await ok(client.get(path))).state).to.equal("completed");
    expect((await client.get(content)).body.text).to.contain(`passport ${n}`);
  }

  it(`takes ${CANDIDATES} candidates from creation to completed, and its mirror equals the service`, async () => {
    let walking = true;
    const polling = (async () => {
      while (walking) await poll();
    })();
    const queue = Array.from({ length: CANDIDATES }, (_, n) => n);
    const worker = async () => {
      for (let n = queue.shift(); n !== undefined; n = queue.shift()) await walk(n);
    };
    await Promise.all(Array.from({ length: 5 }, worker));
    walking = false;
    await polling;
    await poll();

    expect(mirror.size).to.equal(CANDIDATES);
    for (const [id, candidate] of mirror) {
      expect(candidate.state).to.equal("completed");
      expect(candidate.waiting_on).to.deep.equal([]);
      expect((await client.get(`/candidates/${id}`)).body).to.deep.equal(candidate);
    }
  });
});
