import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { type AccountRecord, newAccount } from "../../src/accounts/account.ts";
import type { AccountView, KeyView, NewKeyView } from "../../src/accounts/view.ts";
import type { GrantView } from "../../src/grants/view.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { useDatabase } from "../support/use-service.ts";
import { admin, adminMain, adminProcess, answerOf, mistakeOf, serversOf } from "./support.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

describe("a command in a terminal, a pipe or a container", function () {
  this.timeout(60_000); // most commands are processes
  const database = useDatabase();
  const env = () => {
    const config = testConfig();
    return serversOf({ ...config, MONGODB_URL: withDatabase(config.MONGODB_URL ?? "", database.db.databaseName) });
  };
  const response = (...args: string[]) => answerOf(args, env());
  const createAccount = async (name = "Acme") => (await response("accounts", "create", "--name", name)) as AccountView;
  const newKey = async (name = "Acme") =>
    (await response("keys", "create", "--account", (await createAccount(name)).id, "--name", "ats")) as NewKeyView;
  const statusOf = async ({ id, account_id }: NewKeyView) =>
    ((await response("accounts", "show", account_id)) as { keys: KeyView[] }).keys.find((key) => key.id === id)?.status;

  /** Runs a shell command with the command line as `$ADMIN`. Its environment is PATH and the servers, and nothing else. */
  async function shell(program: string, args: string[]) {
    const servers = { PATH: process.env.PATH, ADMIN: `${process.execPath} ${await adminMain()}`, ...env() };
    return spawn(program, args, { env: servers, stdio: ["pipe", "pipe", "inherit"] });
  }

  /**
   * Runs a shell command in a pseudo-terminal, and types a reply to each question that it prints.
   * @returns the exit code, and what the terminal shows.
   */
  async function inTerminal(command: string, replies: Record<string, string>) {
    const child = await shell("script", ["--quiet", "--return", "--command", command, "/dev/null"]);
    let shown = "";
    const waiting = new Map(Object.entries(replies));
    child.stdout.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
      for (const [question, reply] of waiting)
        if (shown.includes(question) && waiting.delete(question)) child.stdin.write(reply);
    });
    const [code] = (await once(child, "close")) as [number];
    return { code, shown };
  }

  before(function () {
    if (process.platform !== "linux") this.skip(); // `script` takes other options elsewhere
  });

  it("asks before it revokes a key, and names the key and its account", async () => {
    const key = await newKey("Ac\u001bme");
    const command = `$ADMIN keys revoke ${key.id}`;
    for (const reply of ["\n", "yesterday\n", CTRL_D]) {
      const { code, shown } = await inTerminal(command, { "[y/N] ": reply });
      expect(shown).to.include(`Revoke ${key.id} (ats) of ${key.account_id} (Acme)? [y/N] `);
      expect(shown).to.match(/Nothing was changed\.\r\n$/);
      expect([code, await statusOf(key)]).to.deep.equal([1, "active"]);
    }
    const { code, shown } = await inTerminal(command, { "[y/N] ": "Y\n" });
    expect(shown).to.include('"status": "revoked"');
    expect([code, await statusOf(key)]).to.deep.equal([0, "revoked"]);
  });

  it("is ended by Ctrl-C at the question, with the loop that it is in, and changes nothing", async () => {
    const key = await newKey();
    const { code } = await inTerminal(`for n in 1 2; do $ADMIN keys revoke ${key.id}; done; echo went on`, {
      "[y/N] ": CTRL_C,
    });
    expect([code, await statusOf(key)]).to.deep.equal([130, "active"]);
  });

  it("has the id of an account typed again before it erases the account, and says whose it is", async () => {
    const { id } = await createAccount("Ac\u001bme");
    const command = `$ADMIN accounts erase ${id}`;
    for (const reply of ["y\n", "\n", "acct_1\n", CTRL_D]) {
      const { code, shown } = await inTerminal(command, { "to go on: ": reply });
      expect(shown).to.include(`Erase ${id} (Acme) with 0 candidates for good? Type ${id} to go on: `);
      expect([code, shown.includes("Nothing was changed.")]).to.deep.equal([1, true]);
    }
    expect(await response("accounts", "show", id)).to.include({ status: "active" });
    const quickly = `env BODY_TIMEOUT_MS=100 STORE_TIMEOUT_MS=1000 ${command}`;
    const { code, shown } = await inTerminal(quickly, { "to go on: ": `${id}\n` });
    expect([code, shown.includes('"object": "account_erasure"')], shown).to.deep.equal([0, true]);
    expect(await response("accounts", "show", id)).to.include({ status: "erased" });
  });

  it("asks before it suspends an account and before it revokes a grant, unless --yes is there", async () => {
    const { id, account_id } = await newKey();
    const terms = ["--surface=create", "--amount=5", "--approved-by=Kim", "--reason=move", "--expires-in-hours=1"];
    const grant = (await response("grants", "create", "--key", id, ...terms)) as GrantView;
    for (const [command, question, done] of [
      [`grants revoke ${grant.id}`, `Revoke ${grant.id}? [y/N] `, '"status": "revoked"'],
      [
        `accounts suspend ${account_id}`,
        `Suspend ${account_id} (Acme) with 1 active keys? [y/N] `,
        '"status": "suspended"',
      ],
    ] as const) {
      const refused = await inTerminal(`$ADMIN ${command}`, { "[y/N] ": "n\n" });
      expect(refused.shown).to.include(question).and.not.include(done);
      const { code, shown } = await inTerminal(`$ADMIN ${command} --yes`, {});
      expect(shown).to.include(done).and.not.include("[y/N]");
      expect(code).to.equal(0);
    }
  });

  it("says that it waits for a leaked key, and asks before it revokes it", async () => {
    const key = await newKey();
    const replies = { "Paste the key and press Enter: ": `${key.key}\n`, "[y/N] ": "y\n" };
    const { code, shown } = await inTerminal("$ADMIN keys find --revoke", replies);
    expect(shown).to.include(`Revoke ${key.id} (ats)`).and.include('"status": "revoked"');
    expect([code, await statusOf(key)]).to.deep.equal([0, "revoked"]);
  });

  it("goes on without a question where there is no terminal", async () => {
    const key = await newKey();
    expect(await answerOf(["keys", "revoke", key.id], env(), adminProcess)).to.include({ status: "revoked" });
  });

  it("asks before it erases a person, and needs --yes where there is no terminal", async () => {
    const { code, shown } = await inTerminal("$ADMIN candidates erase cand_1 cand_2", { "[y/N] ": "n\n" });
    expect(shown)
      .to.include("Erase cand_1, cand_2 for good? [y/N] ")
      .and.match(/Nothing was changed\.\r\n$/);
    expect(code).to.equal(1);
    expect(await mistakeOf(["candidates", "erase", "cand_1"], env())).to.equal(
      "Nothing was changed: without a terminal, this command needs --yes.",
    );
  });

  it("exits with 0 if the reader of a pipe has read enough", async () => {
    const records = Array.from({ length: 300 }, (_, index) =>
      newAccount(`acct_${String(index).padStart(26, "0")}`, "x".repeat(200), "2026-11-22T00:00:00.000Z"),
    );
    await database.db.collection<AccountRecord>("accounts").insertMany(records);
    for (const command of ["accounts list", "help"]) {
      const child = await shell("bash", [
        "--norc",
        "-c",
        `$ADMIN ${command} 2>&1 >/dev/stdout | true; echo \${PIPESTATUS[0]}`,
      ]);
      let shown = "";
      child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
      await once(child, "close");
      expect(shown, command).to.equal("0\n");
    }
  });

  describe("in an image, which sets ADMIN_ACTOR_REQUIRED", () => {
    const image = () => ({ ...env(), ADMIN_ACTOR_REQUIRED: "true", USER: "node" });

    it("is refused if it changes something and no ADMIN_ACTOR is set, with the command to write", async () => {
      const { id, account_id } = await newKey();
      const grant = [
        "--surface=create,start",
        "--amount=5",
        "--approved-by=Kim",
        "--reason=it's",
        "--expires-in-hours=1",
      ];
      for (const args of [
        ["accounts", "create", "--name", "Acme AG"],
        ["accounts", "rename", account_id, "--name", "Other"],
        ["accounts", "suspend", account_id],
        ["accounts", "resume", account_id],
        ["keys", "create", "--account", account_id, "--name", "second"],
        ["keys", "rotate", id, "--grace-seconds", "0"],
        ["keys", "revoke", id, "--yes"],
        ["grants", "create", "--key", id, ...grant],
        ["outreach", "pause", "--account", account_id],
        ["restore", "begin"],
        ["candidates", "erase", "cand_1", "--yes"],
      ]) {
        const words = args.join(" ").replace("Acme AG", "'Acme AG'").replace("--reason=it's", "'--reason=it'\\''s'");
        for (const ADMIN_ACTOR of ["", "  "])
          expect(await mistakeOf(args, { ...image(), ADMIN_ACTOR })).to.equal(
            "Nothing was changed: the audit needs your name. " +
              `Run in the container: env ADMIN_ACTOR=ann node dist/admin/main.js ${words}`,
          );
      }
      expect(await response("accounts", "show", account_id)).to.include({ name: "Acme", status: "active" });
      expect(await database.db.collection("outreach_accounts").countDocuments({ _id: account_id as never })).to.equal(
        0,
      );
      expect(await answerOf(["keys", "revoke", id], { ...image(), ADMIN_ACTOR: "ann" })).to.include({
        status: "revoked",
      });
      const audit = await response("audit", "list", "--account", account_id, "--limit", "1");
      expect(audit).to.have.nested.include({ "data[0].actor": "ann", "data[0].action": "keys revoke" });
    });

    it("reads without a name", async () => {
      const key = await newKey();
      for (const args of [["accounts", "list"], ["keys", "list"], ["audit", "list"], ["help"], ["keys", "find"]]) {
        const { code, stderr } = await admin(args, image(), key.key);
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
      }
    });
  });
});
