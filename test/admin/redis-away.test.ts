import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { Operations } from "../../src/admin/operations.ts";
import { termsOf } from "../grants/support.ts";
import { problemOf } from "../limiter/support.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { useRedisServer } from "../support/servers.ts";
import { testConfig } from "../support/service.ts";
import { useDatabase } from "../support/use-service.ts";
import { useStarted } from "../support/use-started.ts";

const RETRY = { headers: { "Retry-After": "2" } };

describe("an operator's command while Redis is away", () => {
  const server = useRedisServer();
  const database = useDatabase();
  const operations = useStarted(
    "The operations",
    async () => {
      const config = testConfig();
      const MONGODB_URL = withDatabase(config.MONGODB_URL ?? "", database.db.databaseName);
      const opened = new Operations({ ...config, MONGODB_URL, REDIS_URL: server.url });
      const [accounts, grants] = await Promise.all([opened.accounts(), opened.grants()]);
      return { accounts, grants, close: () => opened.close() };
    },
    ({ close }) => close(),
  );

  /** Runs `work` while Redis is down. Then restarts it, and waits until a command succeeds: no event tells when. */
  async function without<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    await server.kill();
    const result = await work();
    await server.restart();
    const isBack = () =>
      operations.grants.list(accountId).then(
        () => true,
        () => false,
      );
    while (!(await isBack())) await setTimeout(20);
    return result;
  }

  it("changes the store, says so, and changes the limiter when it is repeated", async () => {
    const { accounts, grants } = operations;
    const { id: accountId } = await accounts.createAccount({ name: "Acme" });
    const { id: keyId } = await accounts.createKey({ accountId, name: "ats" });
    await accounts.createKey({ accountId, name: "second" });
    const [grant] = (await grants.createForSurfaces(termsOf(keyId, { amount: 5 }), ["create"])).data;

    const rotated = await without(accountId, () => accounts.rotateKey({ keyId, graceSeconds: 0 }));
    expect(rotated.key).to.match(/^cos_live_/);
    expect(rotated.warning).to.equal(
      "The limiter could not be updated. Replicas that have cached the old secret may accept it. Run `admin accounts announce` once the limiter answers.",
    );
    expect(await accounts.rotateKey({ keyId, graceSeconds: 0 })).not.to.have.property("warning");

    const listed = await without(accountId, () => problemOf(grants.list(accountId)));
    expect(listed).to.include({ code: "limiter_unavailable", status: 503 });
    const revoked = await without(accountId, () => problemOf(grants.revoke(grant!.id)));
    expect(revoked).to.include({ code: "limiter_unavailable", status: 503 });
    expect(await grants.revoke(grant!.id)).to.include({ status: "revoked" });

    for (const [title, command] of [
      [`The key ${keyId} is revoked`, () => accounts.revokeKey(keyId)],
      [`The account ${accountId} is suspended`, () => accounts.setStatus(accountId, "suspended")],
      [`The account ${accountId} is active`, () => accounts.setStatus(accountId, "active")],
    ] as const) {
      const { code, message, extras } = await without(accountId, () => problemOf(command()));
      expect(code).to.equal("limiter_unavailable");
      expect(extras).to.deep.include(RETRY);
      expect(message).to.equal(
        `${title} in the store, but the limiter could not be updated. Replicas may not know yet. Repeat the command.`,
      );
      expect((await command()).object).to.be.a("string");
    }
  });
});
