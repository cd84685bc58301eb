import { expect } from "chai";
import { getCountries, getCountryCallingCode, getExampleNumber } from "libphonenumber-js/min";
import examples from "libphonenumber-js/mobile/examples";
import { differenceOf } from "../../src/client/compare.ts";
import type { Candidate, CandidateInput } from "../../src/client/index.ts";
import { phoneOf } from "../../src/schema/phone.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { syncing } from "./support.ts";

/** One of each untidy form that the service normalises. */
const UNTIDY = {
  external_id: " ats\u200B-1 ",
  name: "  Ada Okafor ",
  first_name: "",
  last_name: null,
  email: " ada\u00AD@example.com ",
  phone: "tel:+44 (0)20 7946-0958",
  job_title: " Nurse",
  start_date: "2027-01-10T00:00:00Z",
  metadata: { source: " fair ", round: 2, remote: true, gone: null, empty: "" },
  references_required: 1,
  docs_chase_attempts: null,
  outreach_enabled: false,
  withdrawn: true,
  withdrawal_reason: " moved ",
  documents: [" Passport ", { name: "Visa", required: false }],
  references: [{ name: " Jo ", email: " Jo@Example.com" }, { name: "Kim " }, {}],
} as unknown as CandidateInput;

describe("the client's comparison of rows", () => {
  const service = useService();
  const account = useAccount(service);
  const { run, mirrored } = syncing(service, account);

  it("knows an untidy row again, and sees each of its changes", async () => {
    await run([UNTIDY]);
    const mirror = await mirrored();
    const again = await run([UNTIDY], { mirror: mirror.values() });
    expect(again.result).to.include({ unchanged: 1 });
    expect(again.requests).to.deep.equal([]);
    const CHANGES: [CandidateInput, fields: string[]][] = [
      [{ name: "ada okafor" }, ["name"]],
      [{ name: "" }, ["name"]],
      [{ email: "Ada@example.com" }, ["email"]],
      [{ phone: "+44 20 7946 0959" }, ["phone"]],
      [{ phone: "" }, ["phone"]],
      [{ start_date: "2027-01-11" }, ["start_date"]],
      [{ metadata: { round: "3" } }, ["metadata"]],
      [{ metadata: { source: null } }, ["metadata"]],
      [{ metadata: null }, ["metadata"]],
      [{ references_required: null }, ["references_required"]],
      [{ docs_chase_attempts: 4 }, ["docs_chase_attempts"]],
      [{ outreach_enabled: true }, ["outreach_enabled"]],
      [{ withdrawn: false, withdrawal_reason: null }, ["withdrawn", "withdrawal_reason"]],
      [{ documents: ["passport"] }, ["documents"]],
      [{ references: [{ name: "Jo" }, { email: "lee@example.com" }] }, ["references"]],
    ];
    for (const [change, fields] of CHANGES) {
      const { result } = await run([{ ...UNTIDY, ...change }], { mirror: mirror.values(), dryRun: true });
      expect(result.changes, JSON.stringify(change)).to.deep.equal([
        { external_id: "ats-1", action: "update", fields },
      ]);
    }
    for (const [change] of CHANGES) {
      const changed = [{ ...UNTIDY, withdrawn: true, ...change }];
      expect((await run(changed)).result, JSON.stringify(change)).to.deep.include({ updated: 1, failed: [] });
      const same = await run(changed);
      expect(same.requests, JSON.stringify(change)).to.deep.equal(["GET /candidates"]);
      expect(same.result).to.include({ unchanged: 1 });
    }
  });

  it("leaves alone what is kept as unreadable, until it can be read", async () => {
    const unreadable = "metadata";
    const row: CandidateInput = {
      external_id: "1",
      email: " ada@ ",
      phone: "555-0123",
      start_date: "10/01/2027",
      references: [{ name: "Jo", email: "jo" }],
    };
    const { result } = await run([row], { unreadable });
    expect(result.warnings.map(({ external_id, pointer }) => `${external_id} ${pointer}`)).to.have.members([
      "1 /email",
      "1 /phone",
      "1 /start_date",
      "1 /references/0/email",
    ]);
    for (const same of [row, { ...row, metadata: null }])
      expect((await run([same], { unreadable })).requests).to.deep.equal(["GET /candidates"]);
    const mended = { ...row, phone: "+1 415 555 0123" };
    expect((await run([mended], { unreadable })).result).to.deep.include({ updated: 1, failed: [] });
    const [candidate] = [...(await mirrored()).values()];
    expect(candidate?.phone).to.equal("+14155550123");
    expect(candidate?.metadata).to.deep.equal({
      "unreadable.email": "ada@",
      "unreadable.start_date": "10/01/2027",
      "unreadable.references.0.email": "jo",
    });
    expect((await run([mended], { unreadable })).requests).to.deep.equal(["GET /candidates"]);
    const spoilt = { ...mended, phone: "none" };
    expect((await run([spoilt], { unreadable })).result).to.deep.include({ updated: 1, failed: [] });
    expect((await run([spoilt], { unreadable })).requests).to.deep.equal(["GET /candidates"]);
  });

  it("leaves a malformed row to the service, which refuses it alone", async () => {
    await run([{ external_id: "1", documents: "", references: "", metadata: "" } as unknown as CandidateInput]);
    const same = await run([{ external_id: "1", documents: "", metadata: "" } as unknown as CandidateInput]);
    expect(same.result).to.include({ unchanged: 1 });
    for (const fields of [
      { documents: [null] },
      { documents: [{ name: 5 }] },
      { references: [5] },
      { metadata: "a" },
    ]) {
      const { result } = await run([
        { external_id: "1", ...fields } as unknown as CandidateInput,
        { external_id: "2" },
      ]);
      expect(result.failed, JSON.stringify(fields)).to.have.length(1);
    }
  });

  it("takes phones for the same only if the service does", () => {
    const isSame = (phone: string, known: string) =>
      differenceOf(
        { phone },
        { phone: known, metadata: {}, documents: [], references: [] } as unknown as Candidate,
        false,
      ) === undefined;
    let same = 0;
    for (const country of getCountries()) {
      const code = getCountryCallingCode(country);
      const number = getExampleNumber(country, examples);
      if (number === undefined) continue;
      const { number: known, nationalNumber: national } = number;
      const forms = [
        number.formatInternational(),
        number.getURI(),
        `+${code} (${national.slice(0, 2)}) ${national.slice(2)}`,
      ];
      for (const form of forms) expect(isSame(form, known), `${country}: ${form}`).to.equal(phoneOf(form) === known);
      const form = `+${code} (0)${national}`;
      const others = [`+${code} 0${national}`, `+${code} (0${national.slice(0, 2)}) ${national.slice(2)}`];
      for (const each of [form, ...others])
        if (isSame(each, known)) expect(phoneOf(each), `${country}: ${each}`).to.equal(known);
      if (!isSame(form, known)) continue;
      for (const each of others) expect(isSame(each, known), `${country}: ${each}`).to.equal(true);
      same++;
      expect(
        isSame(
          form,
          known.replace(/.$/, (digit) => String((Number(digit) + 1) % 10)),
        ),
        "another",
      ).to.equal(false);
    }
    expect(same, "countries whose zero is left out").to.be.above(30);
    expect(isSame("+39 (0)6 123456", "+396123456"), "Italy keeps the zero").to.equal(false);
    expect(isSame("0043 1 234567", "+431234567"), "no phone for the service").to.equal(false);
  });
});
