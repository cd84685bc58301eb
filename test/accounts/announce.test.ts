import { expect } from "chai";
import { type AccountRecord, newAccount } from "../../src/accounts/account.ts";
import { announceAccount, type Versions } from "../../src/accounts/announce.ts";
import { problemOf } from "../limiter/support.ts";

const NOW = "2026-11-21T10:00:00.000Z";

/** One account, and what Redis knows of its version. */
function scene() {
  let account: AccountRecord = newAccount("acct_1", "Acme", NOW);
  let known = 0;
  let ignoring = 0;
  const raised: string[] = [];
  const hooks: { beforeRaise?: (() => Promise<void> | void) | undefined } = {};
  const versions: Versions = {
    now: () => Promise.resolve(7_000),
    async raise(accountId, { version, begunMs, over }) {
      const { beforeRaise } = hooks;
      hooks.beforeRaise = undefined;
      await beforeRaise?.();
      if (raised.length === 10) throw new Error("This goes on and on.");
      expect(begunMs).to.equal(7_000);
      raised.push(`${accountId} ${version}${over === 0 ? "" : ` over ${over}`}`);
      if (ignoring > 0) {
        ignoring--;
        return 0;
      }
      if (version >= known || known === over) known = version;
      return known;
    },
  };
  const servers = { store: { get: () => Promise.resolve(account) }, versions };
  return {
    raised,
    hooks,
    known: () => known,
    announce: ({ _id }: AccountRecord, options?: { mayLower: boolean }) => announceAccount(_id, servers, options),
    /** Changes the record, as a command does before it announces the change. */
    write: () => (account = { ...account, version: account.version + 1 }),
    restore: (backup: AccountRecord) => (account = backup),
    /** The next announcements come too late. */
    ignoreNext: (count = 1) => (ignoring = count),
  };
}

describe("announceAccount", () => {
  it("announces each change once, if no other change comes in between", async () => {
    const { announce, write, raised } = scene();
    await announce(write());
    await announce(write());
    expect(raised).to.deep.equal(["acct_1 2", "acct_1 3"]);
  });

  it("announces the newest record, if another command has changed it since", async () => {
    const { announce, write, raised } = scene();
    const first = write();
    write();
    await announce(first);
    expect(raised).to.deep.equal(["acct_1 3"]);
  });

  it("leaves the version of a later command that has announced first", async () => {
    const { announce, write, raised, hooks, known } = scene();
    hooks.beforeRaise = () => announce(write());
    await announce(write());
    expect(raised).to.deep.equal(["acct_1 3", "acct_1 2", "acct_1 3"]);
    expect(known()).to.equal(3);
  });

  it("reads the record again if the announcement came too late", async () => {
    const { announce, write, raised, hooks, ignoreNext } = scene();
    hooks.beforeRaise = () => {
      write(); // another command, whose announcement Redis has forgotten since
      ignoreNext();
    };
    await announce(write());
    expect(raised).to.deep.equal(["acct_1 2", "acct_1 3"]);
  });

  it("never lowers a version, however often the store shows an older record", async () => {
    const { announce, write, restore, known } = scene();
    const before = write();
    await announce(write());
    restore(before);
    const problem = await problemOf(announce(before));
    expect(problem.code).to.equal("limiter_unavailable");
    expect(problem.message).to.include("accounts announce");
    expect(known()).to.equal(3);
  });

  it("lowers a version only for an operator who announces a restored store, once two reads show an older record", async () => {
    const { announce, write, restore, raised, known } = scene();
    const before = write();
    await announce(write());
    restore(before);
    await announce(before, { mayLower: true });
    expect(raised).to.deep.equal(["acct_1 3", "acct_1 2", "acct_1 2 over 3"]);
    expect(known()).to.equal(2);
  });

  it("fails if Redis ignores each announcement, as if its clocks were minutes apart", async () => {
    const { announce, write, raised, ignoreNext } = scene();
    ignoreNext(20);
    expect((await problemOf(announce(write()))).code).to.equal("limiter_unavailable");
    expect(raised).to.have.length(8);
  });
});
