import { expect } from "chai";
import { held } from "../documents/support.ts";
import { type Answer, expectProblem } from "../support/client.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";

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
  const service = useOwnService();
  const account = useAccount(service);

  const dryRun = (json: unknown, headers: Record<string, string> = {}) =>
    account.client.post("/candidates?dry_run=true", json, headers);
  /** Serializes a candidate with its ids and times replaced, for comparison. */
  const withoutIdsAndTimes = (candidate: unknown) =>
    JSON.stringify(candidate, null, 1)
      .replaceAll(/(cand|doc|ref)_[0-9a-z]{26}/g, "$1")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "then");
  const countAll = async () => {
    const { db } = service.operators.mongo;
    // The note of a change is in changed_accounts for less than a second.
    const names = (await db.listCollections().toArray())
      .map(({ name }) => name)
      .filter((name) => !/^(content|(leases|changed_accounts)$)/.test(name));
    const rows = await Promise.all(
      names.map(async (name) => [name, (await db.collection(name).find().toArray()).length]),
    );
    return { ...(Object.fromEntries(rows) as Record<string, number>), ...(await held(service)) };
  };

  it("returns 200 with the candidate that creation would respond", async () => {
    const response = await dryRun(FULL);
    expect(response.status).to.equal(200);
    expect(response.headers.get("location")).to.equal(null);
    const { object, valid, would_create } = response.body as unknown as {
      object: string;
      valid: boolean;
      would_create: unknown;
    };
    expect({ object, valid }).to.deep.equal({ object: "dry_run", valid: true });
    const created = await account.client.post("/candidates", FULL);
    expect(created.status).to.equal(201);
    expect(withoutIdsAndTimes(would_create)).to.equal(withoutIdsAndTimes(created.body));
  });

  it("stores nothing", async () => {
    await account.client.post("/candidates", FULL, { "Idempotency-Key": "real" }); // so that every collection exists
    const before = await countAll();
    expect(before).to.include.keys("candidates", "idempotency_records", "reference_index");
    expect(before.files).to.be.above(0);
    for (const external_id of ["ats-2", undefined])
      expect((await dryRun({ ...FULL, external_id }, { "Idempotency-Key": "k" })).status).to.equal(200);
    expect(await countAll()).to.deep.equal(before);
  });

  it("charges reads, not create", async () => {
    const { headers } = await dryRun({});
    expect(headers.get("ratelimit")).to.match(/"account-reads";r=599;t=\d+, "key-reads";r=299;/);
    expect(await account.used()).to.deep.equal({ reads: 1 });
  });

  it("returns problems exactly as creation does", async () => {
    const { body: existing } = await account.client.post("/candidates", { external_id: "taken" });
    const wrong = [
      { external_id: "taken" },
      { nam: "Ada" },
      { email: "no", documents: [{}] },
      { name: "x".repeat(201) },
      { documents: [{ name: "CV", content: { data: "" } }] },
      { documents: [{ name: "CV", state: "waived", content: { data: "AAAA" } }] },
      { documents: [{ name: "CV", state: "requested" }] },
      [],
    ];
    for (const json of wrong) {
      const [dry, real] = [await dryRun(json), await account.client.post("/candidates", json)];
      expect(withoutRequestId(dry)).to.deep.equal(withoutRequestId(real));
      expect(dry.status).to.be.at.least(400);
    }
    expect(expectProblem(await dryRun({ external_id: "taken" }), 409, "external_id_taken").candidate_id).to.equal(
      existing.id,
    );
  });

  it("does not use up its Idempotency-Key: the same key then creates a candidate", async () => {
    const key = { "Idempotency-Key": "one" };
    expect((await dryRun({ name: "Ada" }, key)).status).to.equal(200);
    expect((await account.client.post("/candidates", { name: "Ada" }, key)).status).to.equal(201);
    const again = await dryRun({ name: "Grace" }, key);
    expect([again.status, again.headers.get("idempotent-replayed")]).to.deep.equal([200, null]);
  });

  it("creates a candidate with dry_run=false, and refuses any other value with invalid_query", async () => {
    expect((await account.client.post("/candidates?dry_run=false")).status).to.equal(201);
    expect(await account.used()).to.deep.equal({ create: 1 });
    for (const value of ["", "yes", "2"])
      expectProblem(await account.client.post(`/candidates?dry_run=${value}`), 400, "invalid_query");
    expectProblem(await account.client.post("/candidates?dryrun=true"), 400, "invalid_query");
  });
});

function withoutRequestId({ body }: Answer): unknown {
  return { ...body, request_id: "" };
}
