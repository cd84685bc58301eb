import { expect } from "chai";
import { type ChargeRequest, NO_GRANTS } from "../../src/limiter/decision.ts";
import { ShownGrants } from "../../src/limiter/headers.ts";

const REQUEST = { accountId: "acct_1", keyId: "key_1", surface: "start", accountVersion: 7 } as const;

describe("whether the grants of a key must be read to be shown", () => {
  let shown: ShownGrants;
  beforeEach(() => (shown = new ShownGrants()));
  const mayHave = (more: Partial<ChargeRequest> = {}) => shown.mayHave({ ...REQUEST, ...more });

  it("is so until a reply shows that there are none", () => {
    expect(mayHave()).to.equal(true);
    shown.note(REQUEST, "admitted", NO_GRANTS);
    expect(mayHave()).to.equal(false);
  });

  it("is so again at any other version of the account, for another surface, and for another key", () => {
    shown.note(REQUEST, "admitted", NO_GRANTS);
    const others = [{ accountVersion: 8 }, { accountVersion: 6 }, { surface: "pack" }, { keyId: "key_2" }] as const;
    expect(others.map(mayHave)).to.deep.equal(others.map(() => true));
  });

  it("is always so for a claim without a version", () => {
    const { accountVersion: _, ...unversioned } = REQUEST;
    shown.note(unversioned, "admitted", NO_GRANTS);
    expect(shown.mayHave(unversioned)).to.equal(true);
  });

  it("stays so after a reply that shows a grant, even an empty one, and after one that reads none", () => {
    shown.note(REQUEST, "admitted", { grantRemaining: 0, grantAmount: 0 });
    shown.note(REQUEST, "outdated", NO_GRANTS);
    expect(mayHave()).to.equal(true);
  });

  it("is remembered of 10,000 keys and surfaces", () => {
    for (let n = 0; n <= 10_000; n++) shown.note({ ...REQUEST, keyId: `key_${n}` }, "admitted", NO_GRANTS);
    expect([0, 1, 10_000].map((n) => mayHave({ keyId: `key_${n}` }))).to.deep.equal([true, false, false]);
  });
});
