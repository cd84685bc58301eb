import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount } from "../support/use-service.ts";

describe("Addresses and identifiers", () => {
  const account = useAccount();
  const { client } = account;
  const unique = () => `id${Math.random().toString(36).slice(2)}`;

  it("lose the invisible characters that people copy along", async () => {
    const id = unique();
    const sent = { email: "\u202Aann@example.com\u202C", external_id: `\u200B${id}\uFEFF` };
    const { body } = await client.post("/candidates", sent);
    expect(body).to.include({ email: "ann@example.com", external_id: id });
    expectProblem(await client.post("/candidates", { external_id: `${id}\u200B` }), 409, "external_id_taken");
    const { body: page } = await client.get(`/candidates?external_id=${encodeURIComponent(`${id}\u2060`)}`);
    expect(page.data).to.have.length(1);
    const { body: settings } = await client.patch("/settings/assistant", { reply_to: "hr\u200B@example.com" });
    expect(settings).to.include({ reply_to: "hr@example.com" });
    expect((await client.post("/candidates", { external_id: "\u200B" })).body.external_id).to.equal(null);
  });

  it("may be a number in external_id, which is kept as its text", async () => {
    const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
    const { body } = await client.post("/candidates", { external_id: id });
    expect(body.external_id).to.equal(String(id));
    expect((await client.get(`/candidates?external_id=${id}`)).body.data).to.have.length(1);
    expectProblem(await client.post("/candidates", { external_id: String(id) }), 409, "external_id_taken");
    const patched = await client.patch(`/candidates/${body.id}`, { external_id: -1.5 });
    expect(patched.body.external_id).to.equal("-1.5");
    for (const [external_id, must] of [
      [2 ** 53, /too many digits .* send it as a string/],
      [true, /must be a string or null, not a boolean/],
    ] as const) {
      const { errors } = expectProblem(await client.post("/candidates", { external_id }), 422, "validation_failed");
      expect(errors[0]?.detail).to.match(must);
    }
  });

  it("may be an address with dots where RFC 5322 wants quotes, as Japanese carriers gave them out", async () => {
    for (const email of ["taro..yamada@docomo.ne.jp", "taro.@ezweb.ne.jp"]) {
      const { body } = await client.post("/candidates", { email, references: [{ email }] });
      expect([body.email, body.references[0]?.email]).to.deep.equal([email, email]);
    }
  });

  for (const email of [
    '"x\r\nRCPT TO:<q@q.com>"@example.com',
    '"x>,<y@z.com"@example.com',
    "a\u200Db@example.com",
    "\u202Eann@example.com",
    "a\u0000b@example.com",
  ])
    it(`refuses the address ${JSON.stringify(email)}, of a candidate, of a reference and for replies`, async () => {
      const asCandidate = expectProblem(await client.post("/candidates", { email }), 422, "validation_failed");
      expect(asCandidate.errors[0]?.pointer).to.equal("/email");
      const references = [{ email }];
      expectProblem(await client.post("/candidates", { references }), 422, "validation_failed");
      expectProblem(await client.patch("/settings/assistant", { reply_to: email }), 422, "validation_failed");
    });

  for (const external_id of ["a\u202Eb", "a\u200Db", "a\nb", "a\u0085b"])
    it(`refuses the external_id ${JSON.stringify(external_id)}`, async () => {
      const { errors } = expectProblem(await client.post("/candidates", { external_id }), 422, "validation_failed");
      expect(errors[0]).to.include({
        pointer: "/external_id",
        detail: "must be a string of 1 to 200 visible characters",
      });
    });

  for (const display_name of ["a@b", "<a", "a>", 'a"b', "a\u202Eb", "a\nb", "a＠b", "=?utf-8?b?QA==?="])
    it(`refuses the display_name ${JSON.stringify(display_name)}, and says what it must be`, async () => {
      const refused = await client.patch("/settings/assistant", { display_name });
      const { errors } = expectProblem(refused, 422, "validation_failed");
      expect(errors[0]).to.include({ pointer: "/display_name" });
      expect(errors[0]?.detail).to.match(/^must be a name without @, <, >/);
    });

  it("keeps a display_name with emoji and Persian joiners", async () => {
    const display_name = "👩‍💻 علی‌رضا & Söhne";
    expect((await client.patch("/settings/assistant", { display_name })).body).to.include({ display_name });
  });
});
