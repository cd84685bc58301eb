import { expect } from "chai";
import type { LogLine } from "../../support/processes.ts";
import { Ledger } from "./ledger.ts";

const ACCOUNT = { id: "acct_1", keys: [{ id: "key_1" }] };

describe("the ledger of the fault tests", () => {
  /** @param refused when the client received the refusal. The client sent the admitted request at 10. */
  function breaches(refused: number, admissions = 1): string[] {
    const line = (request_id: string, verdict: string) =>
      ({
        account: "acct_1",
        key_id: "key_1",
        surface: "create",
        window: 1,
        time: "",
        ms: 1,
        request_id,
        verdict,
      }) as unknown as LogLine;
    const log = [
      line("second", "account_exhausted"),
      ...Array.from({ length: admissions }, () => line("first", "admitted")),
    ];
    const times = new Map([
      ["first", { sent: 10, answered: 11 }],
      ["second", { sent: 1, answered: refused }],
    ]);
    return new Ledger(log, ACCOUNT, ["create"], { limits: () => ({ account: 1, key: 9 }), times }).breaches();
  }

  it("accepts a refusal that was answered after the last admission was sent", () => {
    expect(breaches(10.5)).to.deep.equal([]);
  });

  it("reports a refusal before that, too few admissions, and one too many", () => {
    const name = "create of the account in window 1";
    expect(breaches(9)).to.deep.equal([`${name}: 1 requests were refused before the limit was reached`]);
    expect(breaches(9, 0)).to.deep.equal([`${name}: requests were refused after only 0 of 1 admissions`]);
    expect(breaches(9, 2)).to.deep.equal([`${name}: 2 requests were admitted, the limit is 1`]);
  });
});
