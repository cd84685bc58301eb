import { expect } from "chai";
import type { ChargeAnswer, LiveGrants } from "../../src/limiter/scripts.ts";
import type { ChargeRequest } from "../../src/limiter/decision.ts";
import { ShownGrants } from "../../src/limiter/headers.ts";

const REQUEST = { accountId: "acct_1", keyId: "key_1", surface: "start", accountVersion: 7 } as const;
/** An answer that shows no grants. */
const NONE: LiveGrants & Pick<ChargeAnswer, "verdict"> = { verdict: "admitted", grantRemaining: -1, grantAmount: -1 };

describe("whether the grants of a key must be read to be shown", () => {
  let shown: ShownGrants;
  beforeEach(() => (shown = new ShownGrants()));
  const mayHave = (more: Partial<ChargeRequest> = {}) => shown.mayHave({ ...REQUEST, ...more });

  it("is so until an answer shows that there are none", () => {
    expect(mayHave()).to.equal(true);
    shown.answered(REQUEST, NONE);
    expect(mayHave()).to.equal(false);
  });

  it("is so again at any other version of the account, for another surface, and for another key", () => {
    shown.answered(REQUEST, NONE);
    const others = [{ accountVersion: 8 }, { accountVersion: 6 }, { surface: "pack" }, { keyId: "key_2" }] as const;
    expect(others.map(mayHave)).to.deep.equal(others.map(() => true));
  });

  it("is always so for a claim without a version", () => {
    const { accountVersion: _, ...unversioned } = REQUEST;
    shown.answered(unversioned, NONE);
    expect(shown.mayHave(unversioned)).to.equal(true);
  });

  it("stays so after an answer that shows a grant, even an empty one, and after one that reads none", () => {
    shown.answered(REQUEST, { ...NONE, grantRemaining: 0, grantAmount: 0 });
    for (const verdict of ["outdated", "stale"] as const) shown.answered(REQUEST, { ...NONE, verdict });
    expect(mayHave()).to.equal(true);
  });

  it("is remembered of 10,000 keys and surfaces", () => {
    for (let n = 0; n <= 10_000; n++) shown.answered({ ...REQUEST, keyId: `key_${n}` }, NONE);
    expect([0, 1, 10_000].map((n) => mayHave({ keyId: `key_${n}` }))).to.deep.equal([true, false, false]);
  });
});
