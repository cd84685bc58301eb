import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type AccountRecord, newAccount } from "../../src/accounts/account.ts";
import {
  type AccountView,
  type KeyView,
  type ListView,
  type NewKeyView,
  viewAccount,
} from "../../src/accounts/view.ts";
import { connectMongo } from "../../src/infra/mongo.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { useDatabase } from "../support/use-service.ts";
import { admin, adminProcess, answerOf, complaintOf, serversOf } from "./support.ts";

const { MONGODB_URL, REDIS_URL, STORE_TIMEOUT_MS } = testConfig();
const SERVERS = serversOf({ MONGODB_URL, REDIS_URL });

const response = (...args: string[]) => answerOf(args, SERVERS);
const complaint = (args: string[], env: NodeJS.ProcessEnv = SERVERS) => complaintOf(args, env);
const createAccount = async () => (await response("accounts", "create", "--name", "Acme")) as AccountView;
const newKey = async (account: string) =>
  (await response("keys", "create", "--account", account, "--name=ats")) as NewKeyView;

describe("the command line", function () {
  this.timeout(60_000); // some commands are processes, and the first one compiles src/

  const many = useDatabase();
  after(async () => {
    const { client, db } = await connectMongo({ url: MONGODB_URL ?? "", timeoutMs: STORE_TIMEOUT_MS });
    await db.dropDatabase();
    await client.close();
  });

  it("creates an account and a key, lists both, and shows the secret only once", async () => {
    const account = await createAccount();
    expect(account).to.include({ object: "account", name: "Acme", status: "active" });
    const { key: secret, ...key } = await newKey(account.id);
    expect(secret).to.match(/^cos_live_[0-9A-Za-z]{36}$/);
    expect(await response("keys", "list", "--account", account.id)).to.deep.equal({ object: "list", data: [key] });
    const { data } = (await response("accounts", "list")) as ListView<AccountView>;
    expect(data).to.deep.equal([{ ...account, active_keys: 1, updated_at: key.created_at }]);
  });

  it("lists no account and many accounts as one JSON object", async () => {
    const MONGODB_URL = withDatabase(SERVERS["MONGODB_URL"] ?? "", many.db.databaseName);
    const list = () => admin(["accounts", "list"], { ...SERVERS, MONGODB_URL });
    expect((await list()).stdout).to.equal('{\n  "object": "list",\n  "data": []\n}\n');
    const records = Array.from({ length: 1_234 }, (_, index) =>
      newAccount(`acct_${String(index).padStart(26, "0")}`, `Acme\n${index}`, "2026-11-22T00:00:00.000Z"),
    );
    const views = records.map(viewAccount);
    const accounts = many.db.collection<AccountRecord>("accounts");
    while (records.length > 0) await accounts.insertMany(records.splice(0, 200)); // a busy server takes long for all at once
    const { code, stdout } = await adminProcess(["accounts", "list"], { ...SERVERS, MONGODB_URL });
    expect(code).to.equal(0);
    expect(stdout).to.equal(`${JSON.stringify({ object: "list", data: views }, null, 2)}\n`);
  });

  it("prints a refusal in one line", async () => {
    expect(await complaintOf(["keys", "list", "--account", "acct_x"], SERVERS, adminProcess)).to.equal(
      "No account has the id acct_x.",
    );
  });

  it("shows help and the settings without a server, and hides passwords", async () => {
    const { code, stdout } = await adminProcess(["help"], {});
    expect(code).to.equal(0);
    expect(stdout).to.include("keys create ");
    const config = await admin(["config"], { MONGODB_URL: "mongodb://me:hidden@127.0.0.1:1" });
    expect(JSON.parse(config.stdout).data[0]).to.include({ name: "PORT", value: 8080 });
    expect(config.stdout).to.not.include("hidden");
    expect(await complaint(["config"], { PORT: "x", LOG_LEVEL: "y" })).to.match(/PORT.*LOG_LEVEL/);
  });

  it("says what to set if no server is configured, and hides the password of a server that is down", async () => {
    const folder = await mkdtemp(join(tmpdir(), "admin-"));
    expect(await complaint(["accounts", "list"], { DATA_DIR: folder })).to.include("MONGODB_URL");
    await rm(folder, { recursive: true });
    const down = { MONGODB_URL: "mongodb://me:hidden@127.0.0.1:1", STORE_TIMEOUT_MS: "300" };
    expect(await complaint(["accounts", "list"], down))
      .to.match(/^MongoDB cannot be reached/)
      .and.not.include("hidden");
  });

  it("revokes a key in the store while Redis is down, and fails because the limiter could not be notified", async () => {
    const { id: account } = await createAccount();
    const { id } = await newKey(account);
    const env = { ...SERVERS, REDIS_URL: "redis://127.0.0.1:1", STORE_TIMEOUT_MS: "1000" };
    const text = await complaintOf(["keys", "revoke", id], env, adminProcess);
    expect(text).to.include("is revoked in the store");
    const { data } = (await response("keys", "list", "--account", account)) as ListView<KeyView>;
    expect(data[0]).to.include({ id, status: "revoked" });
  });
});
