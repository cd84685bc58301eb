import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount } from "../support/use-service.ts";

describe("POST /candidates?unreadable=metadata", () => {
  const { client } = useAccount();
  const create = (json: object, more = "") => client.post(`/candidates?unreadable=metadata${more}`, json);

  it("keeps what cannot be read of a person in metadata, and says so", async () => {
    const answer = await create({
      name: "Ada",
      email: "ada(at)example.com",
      phone: 301234567,
      start_date: "10/01/2027",
      metadata: { source: "fair" },
      references: [
        { name: "Jo", email: "jo@example.com" },
        { email: "none", phone: "030 123" },
      ],
    });
    expect(answer.status).to.equal(201);
    const { body } = answer;
    expect(body).to.deep.include({ name: "Ada", email: null, phone: null, start_date: null });
    expect(body.references.map(({ email, phone }) => [email, phone])).to.deep.equal([
      ["jo@example.com", null],
      [null, null],
    ]);
    expect(body.metadata).to.deep.equal({
      source: "fair",
      "unreadable.email": "ada(at)example.com",
      "unreadable.phone": "301234567",
      "unreadable.start_date": "10/01/2027",
      "unreadable.references.1.email": "none",
      "unreadable.references.1.phone": "030 123",
    });
    expect(body.warnings!.map(({ pointer }) => pointer)).to.have.members([
      "/email",
      "/phone",
      "/start_date",
      "/references/1/email",
      "/references/1/phone",
    ]);
    expect(body.warnings![0]!.detail).to.match(/kept in metadata as unreadable\./);
    const read = await client.get(`/candidates/${body.id}`);
    expect(read.body).to.not.have.property("warnings");
    expect(read.headers.get("etag")).to.equal(answer.headers.get("etag"));
  });

  it("forgets what it keeps of referees once one of them is erased", async () => {
    const { body } = await create({ email: "none", references: [{ name: "Rita", email: "rita at home.example" }] });
    expect(body.metadata).to.have.property("unreadable.references.0.email");
    await client.request("DELETE", `/references/${body.references[0]!.id}`);
    expect((await client.get(`/candidates/${body.id}`)).body.metadata).to.deep.equal({ "unreadable.email": "none" });
  });

  it("cuts the text at 500 characters", async () => {
    const { body } = await create({ email: "x".repeat(600) });
    expect(Array.from(body.metadata["unreadable.email"]!)).to.have.lengthOf(500);
  });

  it("still refuses a field that decides, and metadata that would be too large", async () => {
    for (const json of [
      { external_id: "a\u0000b" },
      { docs_chase_attempts: 101 },
      { documents: [{ name: "Visa", expires_on: "soon" }] },
      { email: "none", metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`label ${n}`, "x"])) },
      { email: "none", metadata: "text" },
    ])
      expectProblem(await create(json), 422, "validation_failed");
    expectProblem(await client.post("/candidates", { email: "none" }), 422, "validation_failed");
  });

  it("keeps all the faults of fifty references, as far as metadata has room", async () => {
    const references = Array.from({ length: 50 }, () => ({ phone: "none" }));
    const { status, body } = await create({ references });
    expect(status).to.equal(201);
    expect(Object.keys(body.metadata)).to.have.lengthOf(50);
  });

  it("removes the label once the field can be read", async () => {
    const sync = (json: object) => create({ external_id: "ats-1", ...json }, "&on_conflict=update");
    await sync({ email: "none", phone: "none" });
    const { body } = await sync({ email: "ada@example.com", phone: "none" });
    expect(body).to.deep.include({ email: "ada@example.com", metadata: { "unreadable.phone": "none" } });
    expect((await sync({ email: "ada@example.com", phone: "none" })).headers.get("onboarding-outcome")).to.equal(
      "unchanged",
    );
  });

  it("shows it in a dry run", async () => {
    const { body } = await create({ email: "none" }, "&dry_run=true");
    expect(body.would_create.metadata).to.deep.equal({ "unreadable.email": "none" });
    expect(body.would_create.warnings).to.have.lengthOf(1);
  });
});
