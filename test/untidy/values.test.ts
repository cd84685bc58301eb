import { expect } from "chai";
import type { Candidate } from "../../src/candidates/schema.ts";
import { CandidateInput } from "../../src/candidates/input-schema.ts";
import type { Fault } from "../../src/problems.ts";
import { tidier } from "../../src/schema/tidy.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount } from "../support/use-service.ts";

describe("An untidy value", () => {
  const account = useAccount();

  /** Creates a candidate with these fields. @returns the candidate as it was kept. */
  async function kept(fields: Record<string, unknown>): Promise<Record<string, unknown>> {
    const response = await account.client.post("/candidates", fields);
    expect(response.status, JSON.stringify(response.body)).to.equal(201);
    return response.body as unknown as Record<string, unknown>;
  }

  /** @returns the first fault of a refused candidate. */
  async function fault(fields: Record<string, unknown>): Promise<Fault> {
    const response = await account.client.post("/candidates", fields);
    expectProblem(response, 422, "validation_failed");
    return (response.body as unknown as { errors: [Fault] }).errors[0];
  }

  const PHONES: Record<string, string> = {
    "+1 (415) 555-0123": "+14155550123",
    "+14155550123": "+14155550123",
    " +44 (0)20 7946 0958 ": "+442079460958",
    "tel:+1-415-555-0123": "+14155550123",
    "+1.415.555.0123": "+14155550123",
    [`+1${"-".repeat(38)}4155550123`]: "+14155550123", // 50 characters, the most
    "+٩٧١ ٥٠ ١٢٣ ٤٥٦٧": "+971501234567",
    "＋49 30 123456": "+4930123456",
    "+1 212 555 0012": "+12125550012",
    "+44 20 7946 0000": "+442079460000",
    "+81 3 0000 1234": "+81300001234",
    "\u202A+49 30 123456\u202C": "+4930123456",
  };
  for (const [phone, e164] of Object.entries(PHONES))
    it(`keeps the phone ${JSON.stringify(phone)} as ${e164}`, async () => {
      expect(await kept({ phone })).to.include({ phone: e164 });
    });

  const REFUSED_PHONES: Record<string, RegExp> = {
    "(415) 555-0123": /start with \+ and the country code/,
    "0049 30 123456": /start with \+ and the country code/,
    "+999 123456": /begin with an existing country code/,
    [`1${"-".repeat(39)}4155550123`]: /start with \+ and the country code/, // 50 characters
    [`+1${"-".repeat(39)}4155550123`]: /have at most 50 characters/,
    "+1 415 555 0123 ext. 5": /without an extension/,
    "+1 415 555 0123 / +1 415 555 0124": /one phone number only/,
    "+43 1 58858 / 58859": /one phone number only/,
    "+43 1 234567 0043 1 2": /one phone number only/,
    "+1-800-FLOWERS": /a single phone number in digits/,
    [`+${"1".repeat(100_000)}`]: /at most 50 characters/,
  };
  for (const [phone, reason] of Object.entries(REFUSED_PHONES))
    it(`refuses the phone ${JSON.stringify(phone.slice(0, 40))}, and says what to send`, async () => {
      const { pointer, detail } = await fault({ phone });
      expect(pointer).to.equal("/phone");
      expect(detail).to.match(reason);
    });

  it("is trimmed in a query as it is in a body", async () => {
    const { id } = await kept({ external_id: " padded " });
    const found = (await account.client.get("/candidates?external_id=%20padded%20")).body.data;
    expect(found.map((each) => each.id)).to.deep.equal([id]);
  });

  const TOO_LARGE = { score: 9_007_199_254_740_992, team: { name: "Ops" } };
  for (const [name, value] of Object.entries(TOO_LARGE))
    it(`refuses the metadata ${JSON.stringify({ [name]: value })}`, async () => {
      const { pointer, detail } = await fault({ metadata: { [name]: value } });
      expect(pointer).to.equal(`/metadata/${name}`);
      expect(detail).to.match(name === "score" ? /send it as a string/ : /must be a string/);
    });

  it("is put right in the longest lists too", async () => {
    const many = (length: number, item: object) => Array.from({ length }, () => item);
    const fields = {
      documents: many(200, { name: " CV " }),
      references: many(50, { company: " Acme " }),
      metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`name ${n}`, n])),
    };
    const { documents, references, metadata } = (await kept(fields)) as unknown as Candidate;
    expect(new Set(documents.map(({ name }) => name))).to.deep.equal(new Set(["CV"]));
    expect(new Set(references.map(({ company }) => company))).to.deep.equal(new Set(["Acme"]));
    expect(metadata["name 49"]).to.equal("49");
  });

  it("is not looked for in a list that is too long: one item too many is enough to refuse it", async () => {
    const tidy = tidier(CandidateInput);
    for (const [field, many, max] of [
      ["documents", Array.from({ length: 19_000 }, () => ({})), 200],
      ["references", Array.from({ length: 9_000 }, () => ({ phone: "+1 415 1" })), 50],
      ["metadata", Object.fromEntries(Array.from({ length: 19_000 }, (_, n) => [`name ${n}`, "1"])), 50],
    ] as const) {
      const response = await account.client.post("/candidates", { [field]: many });
      const { errors } = expectProblem(response, 422, "validation_failed");
      expect(errors.find(({ pointer }) => pointer === `/${field}`)?.detail).to.match(/^must have at most \d+ /);
      const tidied = tidy({ [field]: structuredClone(many) }) as Record<string, object>;
      expect(Object.keys(tidied[field]!)).to.have.length(max + 1);
    }
  });
});
