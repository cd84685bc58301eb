import { expect } from "chai";
import { type AccountRecord, newAccount } from "../../src/accounts/account.ts";
import { Announcer, type Markers } from "../../src/accounts/announcer.ts";

const NOW = "2026-11-21T10:00:00.000Z";

/** One account, and the markers that were announced to the limiter for it. `hold` delays the next announcement. */
function scene() {
  const key = { id: "key_1", name: "ats", secrets: [], created_at: NOW, revoked_at: null };
  let account: AccountRecord = { ...newAccount("acct_1", "Acme", NOW), keys: [key] };
  const announced: string[] = [];
  let held: Promise<void> = Promise.resolve();
  const announce = (marker: string) => {
    const until = held;
    held = Promise.resolve(); // only the first announcement is delayed
    return until.then(() => announced.push(marker) > 0);
  };
  const markers: Markers = {
    markRevoked: () => announce("revoked"),
    markRotated: (_account, _key, version, restored) => announce(`rotated ${version}${restored ? ", restored" : ""}`),
    markStatus: (_account, status, version, restored) =>
      announce(`${status} ${version}${restored ? ", restored" : ""}`),
  };
  return {
    announced,
    announcer: new Announcer({ get: () => Promise.resolve(account) }, markers),
    write: (edit: Partial<AccountRecord>) => (account = { ...account, ...edit, version: account.version + 1 }),
    hold: () => {
      let release: () => void = () => undefined;
      held = new Promise<void>((resolve) => (release = resolve));
      return release;
    },
    revoked: { keys: [{ ...key, revoked_at: NOW }] },
  };
}

describe("Announcer", () => {
  it("announces each change once if no other change comes in between", async () => {
    const { announcer, write, announced, revoked } = scene();
    await announcer.keyChanged(write({}), "key_1");
    await announcer.statusChanged(write({ status: "suspended" }));
    await announcer.statusChanged(write({ status: "active" }));
    await announcer.keyChanged(write(revoked), "key_1");
    expect(announced).to.deep.equal(["rotated 2", "suspended 3", "active 4", "revoked"]);
  });

  it("announces a resumption again if the earlier suspension was announced after it", async () => {
    const { announcer, write, announced, hold } = scene();
    const release = hold();
    const suspending = announcer.statusChanged(write({ status: "suspended" }));
    await announcer.statusChanged(write({ status: "active" }));
    release();
    await suspending;
    expect(announced).to.deep.equal(["active 3", "suspended 2", "active 3"]);
  });

  it("announces a revocation again if the earlier rotation was announced after it", async () => {
    const { announcer, write, announced, hold, revoked } = scene();
    const release = hold();
    const rotating = announcer.keyChanged(write({}), "key_1");
    await announcer.keyChanged(write(revoked), "key_1");
    release();
    await rotating;
    expect(announced).to.deep.equal(["revoked", "rotated 2", "revoked"]);
  });

  it("announces what happened to the key that was changed, not to another one of its account", async () => {
    const { announcer, write, announced, revoked } = scene();
    const other = { id: "key_2", name: "crm", secrets: [], created_at: NOW, revoked_at: null };
    await announcer.keyChanged(write({ keys: [...revoked.keys, other] }), "key_2");
    await announcer.keyChanged(write({ keys: [other, ...revoked.keys] }), "key_1");
    expect(announced).to.deep.equal(["rotated 2", "revoked"]);
  });

  it("announces a revocation for a key that is no longer in the account's record", async () => {
    const { announcer, write, announced } = scene();
    await announcer.keyChanged(write({ keys: [] }), "key_1");
    expect(announced).to.deep.equal(["revoked"]);
  });
});
