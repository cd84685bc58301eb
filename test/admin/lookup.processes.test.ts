import { randomBytes } from "node:crypto";
import { expect } from "chai";
import type { AccountRecord } from "../../src/accounts/account.ts";
import { makeKey } from "../../src/accounts/key.ts";
import type { AccountView, KeyView, ListView, NewKeyView } from "../../src/accounts/view.ts";
import type { AuditView } from "../../src/audit/trail.ts";
import type { GrantView } from "../../src/grants/view.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { useDatabase } from "../support/use-service.ts";
import { admin, answerOf, complaintOf, mistakeOf, serversOf } from "./support.ts";

type Found = ListView<AccountView & { matched_keys: string[] }> & { has_more: boolean };

describe("what operators look up", function () {
  this.timeout(60_000);
  const database = useDatabase();
  const env = () => {
    const config = testConfig();
    return serversOf({ ...config, MONGODB_URL: withDatabase(config.MONGODB_URL ?? "", database.db.databaseName) });
  };

  const response = (...args: string[]) => answerOf(args, env());
  const newAccount = async (name: string, ...more: string[]) =>
    (await response("accounts", "create", "--name", name, ...more)) as AccountView;
  const newKey = async (account: string) =>
    (await response("keys", "create", "--account", account, "--name", "ats")) as NewKeyView;
  const rotated = async (id: string, grace: number) =>
    (await response("keys", "rotate", id, "--grace-seconds", String(grace))) as NewKeyView;
  const find = async (text: string) => (await response("accounts", "find", text)) as Found;
  const found = async (text: string) => (await find(text)).data.map(({ id }) => id);

  /** Runs `keys find` with `input` on standard input, and expects it to succeed. */
  async function match(input: string, ...options: string[]) {
    const { code, stdout, stderr } = await admin(["keys", "find", ...options], env(), input);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    return JSON.parse(stdout) as { accepted: boolean; secret_status: string; key: KeyView; account: AccountView };
  }

  /** Runs `keys find` with `input` on standard input, and expects it to fail. @returns its error message, one line. */
  const noMatch = (input: string, ...options: string[]) =>
    complaintOf(["keys", "find", ...options], env(), (args, servers) => admin(args, servers, input));

  describe("accounts", () => {
    it("shows one with its keys", async () => {
      const account = await newAccount("Acme", "--note", "contract 4711");
      expect(account).to.include({ name: "Acme", note: "contract 4711" });
      const { key: secret, ...key } = await newKey(account.id);
      expect(key.prefix).to.equal(secret.slice(0, 12));
      expect(await response("accounts", "show", account.id)).to.deep.equal({
        ...account,
        active_keys: 1,
        updated_at: key.created_at,
        keys: [key],
      });
    });

    it("renames one, and keeps the earlier name in the audit", async () => {
      const { id } = await newAccount("Acme");
      expect(await response("accounts", "rename", id, "--name", "Acme AG")).to.include({ id, name: "Acme AG" });
      const { data } = (await response("audit", "list", "--account", id, "--limit", "1")) as ListView<AuditView>;
      expect(data[0]).to.deep.include({ action: "accounts rename", details: { name: "Acme AG", earlier: "Acme" } });
      expect(await response("accounts", "show", id)).to.include({ name: "Acme AG" });
      expect(await mistakeOf(["accounts", "rename", id, "--name="], env())).to.equal("/name must not be blank.");
    });

    it("finds them by a part of the name or the note, in any case, and takes no character for a pattern", async () => {
      const { id } = await newAccount("Müller+Söhne (Köln)", "--note", "ticket [7].*");
      for (const text of ["müller+", "MÜLLER+SÖHNE (", "mu\u0308ller+s", " [7].*", "TICKET [7]"])
        expect(await found(text), text).to.deep.equal([id]);
      for (const text of ["müller.", "^M.*Köln", "ticket .7.", "$where"]) expect(await found(text)).to.deep.equal([]);
      expect(await mistakeOf(["accounts", "find", " "], env())).to.equal("/text must not be blank.");
    });

    it("finds one by the first twelve characters of a key, whichever of its secrets it is", async () => {
      const { id } = await newAccount("Globex");
      const first = await newKey(id);
      const second = await rotated(first.id, 3600);
      for (const { key } of [first, second]) {
        const { data } = await find(key.slice(0, 12));
        expect(data.find((each) => each.id === id)?.matched_keys).to.deep.equal([first.id]);
      }
      expect(await found("cos_live_")).to.deep.equal([]);
    });

    it("returns the first hundred, and says that there are more", async () => {
      const records = Array.from({ length: 101 }, (_, index): AccountRecord => {
        const at = "2026-11-22T00:00:00.000Z";
        const _id = `acct_${String(index).padStart(26, "0")}`;
        return { _id, name: "Initech", status: "active", version: 1, created_at: at, updated_at: at, keys: [] };
      });
      await database.db.collection<AccountRecord>("accounts").insertMany(records);
      const { data, has_more } = await find("initech");
      expect(data.map(({ id }) => id)).to.deep.equal(records.slice(0, 100).map(({ _id }) => _id));
      expect(has_more).to.equal(true);
      await database.db.collection<AccountRecord>("accounts").deleteOne({ _id: records[0]!._id });
      expect(await find("initech")).to.include({ has_more: false });
    });
  });

  describe("a key that leaked", () => {
    it("is identified from standard input, whatever is around it", async () => {
      const account = await newAccount("Acme");
      const { key: secret, ...key } = await newKey(account.id);
      for (const input of [
        secret,
        `${secret}\n`,
        `\r\n  ${secret}\r\n`,
        `leaked:\nAuthorization: Bearer ${secret}"\n`,
        JSON.stringify({ ...key, secret }),
      ])
        expect(await match(input)).to.deep.equal({
          object: "key_match",
          accepted: true,
          secret_status: "current",
          expires_at: null,
          key,
          account: { ...account, active_keys: 1, updated_at: key.created_at },
        });
    });

    it("is identified after rotations too, by the secret that they replaced", async () => {
      const { id, key } = await newKey((await newAccount("Acme")).id);
      const second = await rotated(id, 3600);
      expect(await match(key)).to.deep.include({ accepted: true, secret_status: "rotated" });
      expect(await match(second.key)).to.deep.include({ accepted: true, secret_status: "current", expires_at: null });
      await rotated(id, 0);
      await rotated(id, 0); // removes what has expired from the account
      for (const secret of [key, second.key]) {
        const { key: owner, ...rest } = await match(secret);
        expect(rest).to.include({ accepted: false, secret_status: "expired" });
        expect(owner).to.include({ id, status: "active" });
      }
    });

    it("is not accepted once its account is suspended", async () => {
      const { id } = await newAccount("Acme");
      const { key } = await newKey(id);
      await response("accounts", "suspend", id);
      expect((await match(key)).accepted).to.equal(false);
    });

    it("is revoked in the same command, and again without harm", async () => {
      const { id, account_id, key } = await newKey((await newAccount("Acme")).id);
      for (let n = 0; n < 2; n++) {
        const { accepted, key: revoked, account } = await match(`${key}\n`, "--revoke");
        expect(revoked).to.include({ id, status: "revoked" });
        expect(account.active_keys).to.equal(0);
        expect(accepted).to.equal(false);
      }
      const { stdout } = await admin(["audit", "list", "--account", account_id], env());
      expect(stdout)
        .to.include("keys revoke")
        .and.not.match(/cos_live_/);
    });

    it("revokes nothing if a rotation has replaced it: the key's present secret did not leak", async () => {
      const { id, key } = await newKey((await newAccount("Acme")).id);
      const second = await rotated(id, 0);
      expect(await noMatch(key, "--revoke")).to.match(/^Nothing was changed: key_\w+ has a newer secret/);
      expect((await match(second.key)).key.status).to.equal("active");
    });

    it("fails for one that is unknown, mistyped or missing, and repeats none", async () => {
      const key = makeKey(randomBytes);
      expect(await noMatch(key, "--revoke")).to.equal("No account has this key.");
      expect(await noMatch(key.slice(0, -1))).to.equal("This key is cut off or mistyped: its checksum is wrong.");
      for (const input of ["", "\n", "no key\n"]) expect(await noMatch(input)).to.match(/^Standard input has no key/);
      expect(await mistakeOf(["keys", "find", key], env())).to.not.include(key);
    });
  });

  it("lists the keys of all accounts, or those that nobody has used for so many days", async () => {
    const [day, now] = [24 * 3600 * 1000, Date.now()];
    const at = (days: number) => new Date(now - days * day).toISOString();
    const key = (id: string, days: number, revoked_at: string | null = null) => {
      const secrets = [{ hash: id, created_at: at(days), expires_at: null }];
      return { id, name: id, secrets, created_at: at(days), revoked_at };
    };
    const keys = [
      key("key_old", 91),
      key("key_used", 91),
      key("key_left", 91),
      key("key_new", 1),
      key("key_gone", 91, at(2)),
    ];
    const { id: busy } = await newAccount("Busy");
    const { id: fresh } = await newKey(busy);
    const { id: idle } = await newAccount("Idle");
    await database.db.collection<AccountRecord>("accounts").updateOne({ _id: idle }, { $set: { keys } });
    const uses = new Map([
      ["key_used", at(10)],
      ["key_left", at(31)],
    ]);
    const entries = keys.map(({ id }) => ({ _id: id, account: idle, last_used_at: uses.get(id) ?? null }));
    await database.db.collection<{ _id: string }>("keys").insertMany(entries);
    const listed = async (...more: string[]) =>
      ((await response("keys", "list", ...more)) as ListView<KeyView>).data.map(({ id }) => id);

    expect(await listed()).to.include.members([fresh, ...keys.map(({ id }) => id)]);
    expect(await listed("--unused-days", "30")).to.deep.equal(["key_old", "key_left"]);
    expect(await listed("--unused-days", "32", "--account", idle)).to.deep.equal(["key_old"]);
    expect(await listed("--unused-days", "1", "--account", busy)).to.deep.equal([]);
    for (const days of ["0", "1.5", "3651", "many"])
      expect(await mistakeOf(["keys", "list", "--unused-days", days], env())).to.equal(
        "/unused_days must be a whole number from 1 to 3650.",
      );
  });

  it("lists the grants of all accounts that end soon, the next one first", async () => {
    const grant = async (id: string, hours: number) => {
      const { id: key } = await newKey((await newAccount("Acme")).id);
      const terms = [
        "--surface=create",
        "--amount=5",
        "--approved-by=Kim",
        "--reason=move",
        `--expires-in-hours=${hours}`,
      ];
      await response("grants", "create", "--key", key, "--id", id, ...terms);
    };
    await grant("grant_late", 5);
    await grant("grant_soon", 2);
    await grant("grant_ended", 1);
    await grant("grant_next", 1);
    await response("grants", "revoke", "grant_ended");
    const expiring = async (hours: string) =>
      ((await response("grants", "expiring", "--hours", hours)) as ListView<GrantView>).data;
    expect((await expiring("3")).map(({ id }) => id)).to.deep.equal(["grant_next", "grant_soon"]);
    expect((await expiring("2160"))[2]).to.include({ id: "grant_late", remaining: 5, status: "live" });
    expect(await expiring("0.5")).to.deep.equal([]);
    for (const hours of ["0", "2161", "soon"])
      expect(await mistakeOf(["grants", "expiring", "--hours", hours], env())).to.match(/^\/hours must be a number/);
  });
});
