import { expect } from "chai";
import { type AccountRecord, newAccount } from "../../src/accounts/account.ts";
import { Announcer, type Markers } from "../../src/accounts/announcer.ts";

const NOW = "2026-11-21T10:00:00.000Z";

/** One account and what the limiter was told last, with a way to hold the telling back. */
function scene() {
  const key = { id: "key_1", name: "ats", secrets: [], created_at: NOW, revoked_at: null };
  let account: AccountRecord = { ...newAccount("acct_1", "Acme", NOW), keys: [key] };
  const told: string[] = [];
  let held: Promise<void> = Promise.resolve();
  const tell = (what: string) => {
    const until = held;
    held = Promise.resolve(); // only the first is held back
    return until.then(() => void told.push(what));
  };
  const markers: Markers = {
    markRevoked: () => tell("revoked"),
    markRotated: (_account, _key, version) => tell(`rotated ${version}`),
    markSuspended: () => tell("suspended"),
    clearSuspended: () => tell("resumed"),
  };
  return {
    told,
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

describe("what the limiter is told of an account", () => {
  it("is said once where nothing else happens", async () => {
    const { announcer, write, told, revoked } = scene();
    await announcer.keyChanged(write({}), "key_1");
    await announcer.statusChanged(write({ status: "suspended" }));
    await announcer.statusChanged(write({ status: "active" }));
    await announcer.keyChanged(write(revoked), "key_1");
    expect(told).to.deep.equal(["rotated 2", "suspended", "resumed", "revoked"]);
  });

  it("ends with a resumption that was written after a suspension, though it was told before it", async () => {
    const { announcer, write, told, hold } = scene();
    const release = hold();
    const suspending = announcer.statusChanged(write({ status: "suspended" }));
    await announcer.statusChanged(write({ status: "active" }));
    release();
    await suspending;
    expect(told).to.deep.equal(["resumed", "suspended", "resumed"]);
  });

  it("ends with a revocation that was written after a rotation, though it was told before it", async () => {
    const { announcer, write, told, hold, revoked } = scene();
    const release = hold();
    const rotating = announcer.keyChanged(write({}), "key_1");
    await announcer.keyChanged(write(revoked), "key_1");
    release();
    await rotating;
    expect(told).to.deep.equal(["revoked", "rotated 2", "revoked"]);
  });

  it("is a revocation for a key that the account remembers no more", async () => {
    const { announcer, write, told } = scene();
    await announcer.keyChanged(write({ keys: [] }), "key_1");
    expect(told).to.deep.equal(["revoked"]);
  });
});
