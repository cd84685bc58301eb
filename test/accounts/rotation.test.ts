import { expect } from "chai";
import { Client, expectProblem } from "../support/client.ts";
import { useService } from "../support/use-service.ts";
import { useAccounts } from "./support.ts";

describe("a rotated key", () => {
  const service = useService();

  it("is looked up again at the next request, so that its old secret gets an end", async () => {
    const account = await service.account();
    expect((await account.client.get("/candidates")).status).to.equal(200);
    const { key } = await service.operators.accounts.rotateKey({ keyId: account.keyId, graceSeconds: 0 });
    const charged = await account.client.get("/candidates");
    expectProblem(charged, 401, "api_key_invalid");
    expect(charged.headers.get("ratelimit"), "nothing was charged").to.equal(null);
    expect((await new Client(service.url, key).get("/candidates")).status).to.equal(200);
    expect(await account.used()).to.deep.equal({ list: 2 });
  });
});

describe("the secrets of a key", () => {
  const accounts = useAccounts();
  const newKey = async () => {
    const { id } = await accounts.service.createAccount({ name: "Acme" });
    return accounts.service.createKey({ accountId: id, name: "ats" });
  };
  const secretsOf = async ({ account_id, id }: { account_id: string; id: string }) =>
    (await accounts.store.get(account_id)).keys.find((key) => key.id === id)?.secrets ?? [];

  it("are at most ten, however often the key is rotated: the oldest ends before its grace", async () => {
    const key = await newKey();
    for (let n = 0; n < 12; n++) await accounts.service.rotateKey({ keyId: key.id, graceSeconds: 3600 });
    const secrets = await secretsOf(key);
    expect(secrets).to.have.length(10);
    expect(secrets.at(-1)?.expires_at).to.equal(null);
  });

  it("are removed by the next rotation once they have expired", async () => {
    const key = await newKey();
    for (let n = 0; n < 3; n++) await accounts.service.rotateKey({ keyId: key.id, graceSeconds: 0 });
    expect(await secretsOf(key)).to.have.length(2);
  });
});
