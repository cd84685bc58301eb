import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import type { GrantView } from "../../src/grants/view.ts";
import type { AccountLimits } from "../../src/limits/account-limits.ts";
import { useService, useSharedAccount } from "../support/use-service.ts";
import { adminMain, answerOf, complaintOf, mistakeOf, serversOf } from "./support.ts";

const ESCAPE = "\u001b";

describe("the commands for limits, grants and the audit trail", function () {
  this.timeout(60_000); // one command is a process, and it compiles src/
  const service = useService();
  const account = useSharedAccount(service);

  const env = () => ({ ...serversOf(service.config), LIMIT_WINDOW_SECONDS: "86400", ADMIN_ACTOR: "ann" });
  const response = (...args: string[]) => answerOf(args, env());
  const create = (...more: string[]) => [
    "grants",
    "create",
    "--key",
    account.keyId,
    "--surface",
    "create",
    "--amount",
    "20",
    "--expires-in-hours",
    "24",
    "--approved-by",
    "Ann",
    "--reason",
    "backfill",
    ...more,
  ];

  it("create a grant once for each id, list what remains of it, and revoke it", async () => {
    const grant = (await response(...create("--id", "grant_2025"))) as GrantView;
    expect(grant).to.include({
      object: "grant",
      id: "grant_2025",
      account_id: account.id,
      key_id: account.keyId,
      amount: 20,
      remaining: 20,
      status: "live",
    });
    for (let n = 0; n < 103; n++) expect((await account.client.post("/candidates")).status).to.equal(201);
    expect(await response(...create("--id", "grant_2025"))).to.deep.equal({ ...grant, remaining: 17 });
    expect(await response("grants", "list", "--account", account.id)).to.deep.equal({
      object: "list",
      data: [{ ...grant, remaining: 17 }],
    });
    expect(await mistakeOf(create("--id", "grant_2025", "--amount", "21"), env())).to.include("amount 20");
    expect(await mistakeOf(create("--amount", "many"), env())).to.include("/amount must be a whole number");
    expect(await mistakeOf(create("--surface", "creates"), env())).to.include("/surface must be one of create, ");
    expect(await response("grants", "revoke", "grant_2025")).to.include({ id: "grant_2025", status: "revoked" });
    expect((await account.client.post("/candidates")).status).to.equal(429);
    expect(await complaintOf(["grants", "revoke", "grant_none"], env())).to.equal("No grant has the id grant_none.");
  });

  it("create grants for several surfaces in one command, all or none", async () => {
    const { keyId, client } = await service.account();
    const ofKey = (...more: string[]) => create("--key", keyId, "--id", "grant_move", ...more);
    expect(await mistakeOf(ofKey("--surface", "start,writes,creates"), env())).to.include("/surface must be one of");
    expect(((await client.get("/limits")).body as unknown as { grants: object[] }).grants).to.deep.equal([]);
    const { data } = (await response(...ofKey("--surface", "start, writes,create,start"))) as { data: GrantView[] };
    expect(data.map(({ id, surface, remaining }) => [id, surface, remaining])).to.deep.equal([
      ["grant_move-start", "start", 20],
      ["grant_move-writes", "writes", 20],
      ["grant_move-create", "create", 20],
    ]);
    expect(await response(...ofKey("--surface", "start,writes,create"))).to.deep.equal({ object: "list", data });
    expect(await mistakeOf(ofKey("--surface", "create"), env())).to.include(
      "/id is taken: the grant grant_move-create",
    );
    await response(...create("--key", keyId, "--id", "grant_one"));
    expect(await mistakeOf(create("--key", keyId, "--id", "grant_one", "--surface", "create,start"), env())).to.include(
      "/id is taken: the grant grant_one is for create",
    );
    const { id } = (await client.post("/candidates")).body;
    await client.post(`/candidates/${id}/start`);
    expect((await client.get("/limits")).body).to.have.nested.property("grants.length", 4);
  });

  it("show the limits of an account and of its keys", async () => {
    const shown = (await response("limits", "show", "--account", account.id)) as AccountLimits;
    const used = await account.used();
    expect(shown).to.include({
      object: "account_limits",
      account_id: account.id,
      status: "active",
      window_seconds: 86_400,
    });
    expect(shown.surfaces[0]).to.deep.include({
      surface: "create",
      account: { limit: 200, used: used.create ?? 0, remaining: 200 - (used.create ?? 0) },
    });
    expect(shown.keys.map(({ id }) => id)).to.deep.equal([account.keyId]);
    expect(shown.keys[0]?.surfaces[0]?.key.used).to.equal(used.create ?? 0);
    const empty = await service.operators.accounts.createAccount({ name: "No keys" });
    expect(await response("limits", "show", "--account", empty.id))
      .to.have.property("surfaces")
      .with.length(7);
    expect(await complaintOf(["limits", "show", "--account", "acct_x"], env())).to.equal(
      "No account has the id acct_x.",
    );
  });

  it("keep a table up to date until Ctrl-C, and print no escape codes unless to a terminal", async () => {
    const watching = spawn(
      process.execPath,
      [await adminMain(), "limits", "show", "--account", account.id, "--watch"],
      {
        env: { PATH: process.env.PATH, ...env() },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const gone = once(watching, "exit");
    let [shown, stderr] = ["", ""];
    watching.stderr.on("data", (text: Buffer) => (stderr += text));
    const untilShown = (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        watching.stdout.on("data", (text: Buffer) => {
          shown += text;
          if (pattern.test(shown)) resolve();
        });
      });
    const before = (await account.used()).list ?? 0;
    await untilShown(new RegExp(`list +[█░]+ +${before} / 240`));
    await account.client.get("/candidates");
    await untilShown(new RegExp(`list +█[█░]+ +${before + 1} / 240`));
    watching.kill("SIGINT");
    expect(await gone).to.deep.equal([0, null]);
    expect(stderr).to.equal("");
    expect(shown).to.not.include(ESCAPE);
  });
});
