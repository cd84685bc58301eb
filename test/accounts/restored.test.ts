import { mock } from "node:test";
import { expect } from "chai";
import type { AccountRecord } from "../../src/accounts/account.ts";
import { AccountStore } from "../../src/accounts/store.ts";
import { termsOf } from "../grants/support.ts";
import { asking } from "../infra/redis-forms.ts";
import { type Client, expectProblem } from "../support/client.ts";
import { useRedisServer } from "../support/servers.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";

/** The store was restored from a backup while no replica ran. So Redis knows newer versions than the records have. */
describe("the key of an account after MongoDB was restored from a backup", () => {
  const redis = useRedisServer();
  const service = useOwnService(() => ({ REDIS_URL: redis.url }));
  const account = useAccount(service);
  beforeEach(async () => {
    const { accounts, mongo } = service.operators;
    const records = mongo.db.collection<AccountRecord>("accounts");
    const backup = await records.findOne({ _id: account.id });
    // Three changes come after the backup. The service has not cached the key: it sees the first request after all this.
    await accounts.setStatus(account.id, "suspended");
    await accounts.setStatus(account.id, "active");
    await accounts.setStatus(account.id, "suspended");
    await records.replaceOne({ _id: account.id }, backup!);
  });

  const expectUnavailable = async (client: Client, path: string): Promise<void> => {
    const lookups = mock.method(AccountStore.prototype, "findBySecret");
    const response = await client.get(path);
    lookups.mock.restore();
    expectProblem(response, 503, "store_unavailable");
    expect(response.headers.get("retry-after")).to.equal("1");
    expect(lookups.mock.callCount()).to.equal(3);
  };

  it("is answered 503 after three look-ups, and charges nothing, until Redis is emptied", async () => {
    for (const path of ["/candidates", "/limits", "/candidates"]) await expectUnavailable(account.client, path);
    await asking(redis.url, (client) => client.flushall());
    expect((await account.client.get("/candidates")).status).to.equal(200);
    expect((await account.client.get("/limits")).status).to.equal(200);
    expect(await account.used()).to.deep.equal({ list: 1 });
  });

  const operators = () => service.operators;
  const grant = () => termsOf(account.keyId, { amount: 5 });
  const announceAll = () => operators().accounts.announceAll();

  it("is answered as its record says from the end of the command accounts announce on", async () => {
    await expectUnavailable(account.client, "/candidates");
    await announceAll();
    expect((await account.client.get("/candidates")).status).to.equal(200);
  });

  const COMMANDS: [name: string, command: () => Promise<unknown>, status: number, code?: "account_suspended"][] = [
    ["accounts resume", () => operators().accounts.setStatus(account.id, "active"), 200],
    ["accounts suspend", () => operators().accounts.setStatus(account.id, "suspended"), 403, "account_suspended"],
    ["keys rotate", () => operators().accounts.rotateKey({ keyId: account.keyId, graceSeconds: 60 }), 200],
    ["grants create", () => operators().grants.create({ ...grant(), surface: "create" }), 200],
  ];
  for (const [name, command, status, code] of COMMANDS)
    it(`is not answered after the command ${name}, which names accounts announce, until that is given`, async () => {
      await expectUnavailable(account.client, "/candidates");
      const said = await command().catch((error: Error) => error.message);
      expect(JSON.stringify(said)).to.include("accounts announce");
      if (code === undefined) await expectUnavailable(account.client, "/candidates");
      await announceAll();
      const response = await account.client.get("/candidates");
      if (code === undefined) expect(response.status).to.equal(status);
      else expectProblem(response, status, code);
    });

  it("is refused, and its account's other key is accepted, once the operator has revoked it again", async () => {
    const other = await account.another();
    await announceAll();
    await service.operators.accounts.revokeKey(account.keyId);
    expectProblem(await account.client.get("/candidates"), 401, "api_key_revoked");
    expect((await other.client.get("/candidates")).status).to.equal(200);
  });
});
