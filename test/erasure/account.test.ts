import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { AccountView, KeyView, NewKeyView } from "../../src/accounts/view.ts";
import { TO_CANDIDATE } from "../../src/candidates/record.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { AddressHash } from "../../src/reminders/address-hash.ts";
import { reminderStores } from "../../src/reminders/stores.ts";
import { admin, answerOf, complaintOf, mistakeOf, serversOf } from "../admin/support.ts";
import { newKey } from "../idempotency/support.ts";
import { answerTo, opened } from "../documents/support.ts";
import { expectProblem } from "../support/client.ts";
import { UsageStore } from "../../src/usage/store.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { createPerson, filesIn, tracesIn, until } from "./support.ts";

/** What a body may take to arrive, in milliseconds. `accounts erase` waits for it, and for three operations of the store. */
const LATE = { BODY_TIMEOUT_MS: "1000", STORE_TIMEOUT_MS: "1000" };

describe("accounts erase", function () {
  this.timeout(60_000); // it waits for requests that have begun
  const service = useService({ LIMIT_SCALE: 100 });
  const account = useAccount(service);
  const { client } = account;
  const env = () => ({ ...serversOf(service.config), ...LATE, ADMIN_ACTOR: "ann" });
  const erase = (id = account.id) => answerOf(["accounts", "erase", id, "--yes"], env());
  const database = () => service.operators.mongo.db;

  /** Returns what names the account, by collection, less what is to stay. */
  async function belongings(): Promise<string[]> {
    // changed_accounts has notes that the sender of nudges removes within a second.
    const stays = /^(accounts|audit.*|candidates|changed_accounts|content[._](files|chunks))$/;
    const names = (await database().listCollections().toArray()).map(({ name }) => name);
    const found: string[] = [];
    for (const name of names.filter((each) => !stays.test(each)))
      for (const stored of await database().collection(name).find().toArray())
        if (JSON.stringify(stored).includes(account.id)) found.push(name);
    return found;
  }

  async function auditOf() {
    return (await service.operators.audit.list(1000, account.id)).data;
  }

  it("leaves of an account its audit and a tombstone, and of others everything", async () => {
    const { path } = await createPerson(client);
    const bystander = await service.account();
    const kept = (await bystander.client.post("/candidates", { name: "Kept" })).body;
    await client.patch("/settings/assistant", { display_name: "Zebediah" });
    await client.patch("/settings/quiet-hours", { start: "20:00" });
    await client.post("/webhooks", { url: "https://ats.example.com/hooks" }, { "Idempotency-Key": newKey() });
    const terms = ["--surface", "create", "--amount", "5", "--expires-in-hours", "1"];
    const approved = ["--approved-by", "Kim", "--reason", "move"];
    await answerOf(["grants", "create", "--key", account.keyId, ...terms, ...approved], env());
    const rotated = (await answerOf(["keys", "rotate", account.keyId, "--grace-seconds", "0"], env())) as NewKeyView;
    await answerOf(["outreach", "pause", "--account", account.id], env());
    const mail = reminderStores(service.operators.mongo, new AddressHash(randomBytes(32)), randomBytes);
    // Of nobody: what is left over where a process died while it sent a message.
    const link = { accountId: account.id, id: "cand_1", to: TO_CANDIDATE, address: "hash" };
    await mail.links.add(link);
    await mail.optOuts.add(link, "2026-01-01T00:00:00.000Z");
    const tried = { message_id: "1@x", to: TO_CANDIDATE, documents: [], tries: 1, at: "2026-01-01T00:00:00.000Z" };
    await mail.messages.add([{ counted: link, tried: { ...tried, kind: "sent" as const, code: "250" } }]);
    for (const name of ["mail_addresses", "mail_account_days"])
      await database()
        .collection<{ _id: string }>(name)
        .insertOne({ _id: `${account.id}/1` });
    const usage = {
      account: account.id,
      hour: 1,
      surface: "reads",
      key_id: account.keyId,
      used: 1,
      refused: 0,
    } as const;
    await new UsageStore(service.operators.mongo).write([usage], "writer");
    expect(await belongings()).to.include.members([
      "secrets",
      "keys",
      "grants",
      "links",
      "usage",
      "opt_outs",
      "webhooks",
    ]);

    expect(await erase()).to.deep.equal({ object: "account_erasure", id: account.id, erased: 1 });
    expect(await belongings()).to.deep.equal([]);
    expect(await tracesIn(service.operators.mongo)).to.deep.equal([]);
    expect(await filesIn(service.operators.mongo)).to.deep.equal([]);
    expect(await database().collection("candidates").distinct("state", { account: account.id })).to.deep.equal([
      "deleted",
    ]);
    const refused = await client.get(path, { Authorization: `Bearer ${rotated.key}` });
    expectProblem(refused, 401, "api_key_invalid");
    const audit = await auditOf();
    expect(audit.find(({ action }) => action === "grants create")?.details).to.include({
      approved_by: "Kim",
      reason: "move",
    });
    const ended = audit.filter(({ action }) => action === "accounts erased");
    expect(ended.map(({ actor, subject, outcome }) => [actor, subject, outcome])).to.deep.equal([
      ["ann", account.id, "done"],
    ]);
    expect(audit.filter(({ action }) => action === "candidates delete").map(({ actor }) => actor)).to.deep.equal([
      "ann",
    ]);
    expect((await bystander.client.get(`/candidates/${kept.id}`)).body.name).to.equal("Kept");
  });

  it("leaves an account that list and show call erased, and that no other command takes", async () => {
    await erase();
    const shown = (await answerOf(["accounts", "show", account.id], env())) as AccountView & { keys: KeyView[] };
    expect(shown).to.deep.include({ status: "erased", name: "", note: null, active_keys: 0, keys: [] });
    const { data } = (await answerOf(["accounts", "list"], env())) as { data: AccountView[] };
    expect(data.find(({ id }) => id === account.id)).to.include({ status: "erased", name: "" });
    const terms = [
      "--surface",
      "create",
      "--amount",
      "5",
      "--expires-in-hours",
      "1",
      "--approved-by",
      "K",
      "--reason",
      "m",
    ];
    for (const command of [
      ["accounts", "resume", account.id],
      ["accounts", "suspend", account.id, "--yes"],
      ["accounts", "rename", account.id, "--name", "New"],
      ["keys", "create", "--account", account.id, "--name", "new"],
      ["keys", "list", "--account", account.id],
      ["grants", "list", "--account", account.id],
      ["limits", "show", "--account", account.id],
      ["usage", "--account", account.id],
      ["outreach", "pause", "--account", account.id],
      ["outreach", "opt-outs", "--account", account.id],
      ["candidates", "export", "--account", account.id, "--format", "ndjson"],
    ])
      expect(await complaintOf(command, env()), command.join(" ")).to.match(
        /was erased at 20.+ Only its audit is left\.$/,
      );
    expect(await complaintOf(["grants", "create", "--key", account.keyId, ...terms], env())).to.match(
      /^No key has the id/,
    );
    for (const command of [["accounts", "announce"], ["top"], ["outreach", "top", "--hours", "1"]])
      await answerOf(command, env());
  });

  it("is done once, and finishes what a crash has left when it is run again", async () => {
    await client.post("/candidates", {});
    await erase();
    const before = await auditOf();
    await database()
      .collection<{ _id: string; account: string }>("secrets")
      .insertOne({ _id: "x", account: account.id });
    expect(await erase()).to.deep.equal({ object: "account_erasure", id: account.id, erased: 0 });
    expect(await belongings()).to.deep.equal([]);
    expect((await auditOf()).filter(({ action }) => action === "accounts erased")).to.have.length(1);
    expect(before.filter(({ action }) => action === "accounts suspend")).to.have.length(1);
  });

  it("also erases the candidate of a request that was admitted just before", async () => {
    const body = JSON.stringify({ name: "Late" });
    const headers = { "Content-Type": "application/json", "Content-Length": body.length };
    const late = opened(client, "POST", "/candidates", headers);
    late.write(body.slice(0, 5));
    await until(async () => (await account.used()).create === 1);
    const erased = erase();
    await until(async () => (await client.get("/candidates")).status === 403);
    expect(await Promise.race([erased, setTimeout(1_000, "it waits")])).to.equal("it waits");
    const response = answerTo(late);
    late.end(body.slice(5));
    expect(await response).to.deep.include({ status: 201 });
    expect(await erased).to.deep.include({ erased: 1 });
    // A process may write the usage of the last minute afterwards.
    expect((await belongings()).filter((name) => name !== "usage")).to.deep.equal([]);
  });

  it("stops if the account is resumed meanwhile, and says so", async () => {
    const erased = admin(["accounts", "erase", account.id, "--yes"], env());
    await until(async () => (await client.get("/candidates")).status === 403);
    await answerOf(["accounts", "resume", account.id], env());
    const { code, stderr } = await erased;
    expect([code, stderr]).to.deep.equal([
      1,
      `${account.id} was resumed meanwhile. To erase it, run the same command again.\n`,
    ]);
    expect((await client.get("/candidates")).status).to.equal(200);
  });

  it("leaves who is under a hold, and the account suspended, unless --despite-holds", async () => {
    const [held, other] = [await client.post("/candidates", {}), await client.post("/candidates", {})];
    await client.patch(`/candidates/${held.body.id}`, { hold: { reason: "litigation" } });
    const complaint = await complaintOf(["accounts", "erase", account.id, "--yes"], env());
    expect(complaint).to.equal(
      `${account.id} stays suspended. Under a hold: 1 (${held.body.id}). Either have the client lift the holds after \`accounts resume\`, or add --despite-holds. Then run the same command again.`,
    );
    expect(await answerOf(["accounts", "show", account.id], env())).to.include({ status: "suspended" });
    const candidates = database().collection<{ _id: string }>("candidates");
    expect(await candidates.findOne({ _id: other.body.id })).to.include({ deleted: true });
    expect(await candidates.findOne({ _id: held.body.id })).not.to.have.property("deleted");
    const erased = await answerOf(["accounts", "erase", account.id, "--yes", "--despite-holds"], env());
    expect(erased).to.include({ erased: 1 });
    expect(await answerOf(["accounts", "show", account.id], env())).to.include({ status: "erased" });
  });

  it("needs the id of an account, and consent", async () => {
    expect(await mistakeOf(["accounts", "erase", account.id], env())).to.match(/Nothing was changed.*needs --yes/);
    expect(await complaintOf(["accounts", "erase", "acct_1", "--yes"], env())).to.equal(
      "No account has the id acct_1.",
    );
    expect((await client.get("/candidates")).status).to.equal(200);
  });

  it("is exported, and replayed", async () => {
    const { body } = await client.post("/candidates", {});
    const lines = async () => (await admin(["erasures", "export", "--since", "2026-01-01T00:00:00Z"], env())).stdout;
    await erase();
    const own = (await lines()).split("\n").filter((line) => line.includes(account.id));
    expect(own.map((line) => Object.keys(JSON.parse(line) as object))).to.deep.equal([
      ["account", "candidate", "at"],
      ["account", "at"],
    ]);
    expect(own[0]).to.include(body.id);

    const other = await service.account();
    const { id } = (await other.client.post("/candidates", {})).body;
    const folder = await mkdtemp(join(tmpdir(), "replay-"));
    const file = join(folder, "erasures.ndjson");
    const line = (accountId: string) => JSON.stringify({ account: accountId, at: "2026-01-01T00:00:00Z" });
    await writeFile(file, [line(other.id), line(newTypeId("acct"))].join("\n"));
    expect(await mistakeOf(["erasures", "replay", file], env())).to.match(/needs --yes/);
    const report = await answerOf(["erasures", "replay", file, "--yes"], env());
    expect(report).to.deep.include({ lines: 2, erased: 1, not_there: 1, failed: [] });
    await rm(folder, { recursive: true });
    expect(await answerOf(["accounts", "show", other.id], env())).to.include({ status: "erased" });
    expect(await database().collection<{ _id: string }>("candidates").findOne({ _id: id })).to.include({
      deleted: true,
    });
  });
});
