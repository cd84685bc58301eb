import { expect } from "chai";
import { held } from "../documents/support.ts";
import { type Answer, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

const FULL = {
  external_id: "ats-1",
  name: "Ada Lovelace",
  documents: [
    "Passport",
    {
      name: "Visa",
      content: { filename: "visa.txt", content_type: "text/plain", data: Buffer.from("visa").toString("base64") },
    },
  ],
  references: [{ email: "charles@example.com" }],
};

describe("POST /candidates?dry_run=true", () => {
  const service = useService();
  const account = useAccount(service);

  const rehearse = (json: unknown, headers: Record<string, string> = {}) =>
    account.client.post("/candidates?dry_run=true", json, headers);
  /** What is the same in both: all but ids and times. */
  const essence = (candidate: unknown) =>
    JSON.stringify(candidate, null, 1)
      .replaceAll(/(cand|doc|ref)_[0-9a-z]{26}/g, "$1")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "then");
  const rowsOfEverything = async () => {
    const { db } = service.operators.mongo;
    const names = (await db.listCollections().toArray())
      .map(({ name }) => name)
      .filter((name) => !/^(content|leases$)/.test(name));
    const rows = await Promise.all(
      names.map(async (name) => [name, (await db.collection(name).find().toArray()).length]),
    );
    return { ...(Object.fromEntries(rows) as Record<string, number>), ...(await held(service)) };
  };

  it("answers 200 with the candidate as it would be, the same that creation then answers", async () => {
    const answer = await rehearse(FULL);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("location")).to.equal(null);
    const { object, valid, would_create } = answer.body as unknown as {
      object: string;
      valid: boolean;
      would_create: unknown;
    };
    expect({ object, valid }).to.deep.equal({ object: "dry_run", valid: true });
    const created = await account.client.post("/candidates", FULL);
    expect(created.status).to.equal(201);
    expect(essence(would_create)).to.equal(essence(created.body));
  });

  it("stores nothing at all", async () => {
    await account.client.post("/candidates", FULL, { "Idempotency-Key": "real" }); // so that every collection is there
    const before = await rowsOfEverything();
    expect(before).to.include.keys("candidates", "idempotency_records", "reference_index");
    expect(before.files).to.be.above(0);
    for (const external_id of ["ats-2", undefined])
      expect((await rehearse({ ...FULL, external_id }, { "Idempotency-Key": "k" })).status).to.equal(200);
    expect(await rowsOfEverything()).to.deep.equal(before);
  });

  it("is charged as a creation", async () => {
    const { headers } = await rehearse({});
    expect(headers.get("ratelimit")).to.match(/"account";r=199;t=\d+, "key";r=99;/);
    expect(await account.used()).to.deep.equal({ create: 1 });
  });

  it("answers problems exactly as creation does", async () => {
    const { body: existing } = await account.client.post("/candidates", { external_id: "taken" });
    const wrong = [
      { external_id: "taken" },
      { nam: "Ada" },
      { email: "no", documents: [{}] },
      { name: "x".repeat(201) },
      [],
    ];
    for (const json of wrong) {
      const [rehearsed, real] = [await rehearse(json), await account.client.post("/candidates", json)];
      expect(withoutRequestId(rehearsed)).to.deep.equal(withoutRequestId(real));
      expect(rehearsed.status).to.be.at.least(400);
    }
    expect(expectProblem(await rehearse({ external_id: "taken" }), 409, "external_id_taken").candidate_id).to.equal(
      existing.id,
    );
  });

  it("spends no Idempotency-Key: the same one then creates", async () => {
    const key = { "Idempotency-Key": "one" };
    expect((await rehearse({ name: "Ada" }, key)).status).to.equal(200);
    expect((await account.client.post("/candidates", { name: "Ada" }, key)).status).to.equal(201);
    const again = await rehearse({ name: "Grace" }, key);
    expect([again.status, again.headers.get("idempotent-replayed")]).to.deep.equal([200, null]);
  });

  it("dry_run=false creates, and anything else is invalid_query", async () => {
    expect((await account.client.post("/candidates?dry_run=false")).status).to.equal(201);
    for (const value of ["", "yes", "2"])
      expectProblem(await account.client.post(`/candidates?dry_run=${value}`), 400, "invalid_query");
    expectProblem(await account.client.post("/candidates?dryrun=true"), 400, "invalid_query");
  });
});

function withoutRequestId({ body }: Answer): unknown {
  return { ...body, request_id: "" };
}
