import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { makeKey } from "../../src/accounts/key.ts";
import { AccountStore } from "../../src/accounts/store.ts";
import { connectMongo } from "../../src/infra/mongo.ts";
import { startProxy } from "../limiter/proxy.ts";
import { primaryOf } from "../support/mongo-url.ts";
import { authenticate, bearer, newAuthenticator, problemOf, useAccounts } from "./support.ts";

const TIMEOUT_MS = 1_000;

describe("Authenticator without MongoDB", () => {
  const accounts = useAccounts();

  it("fails all waiting requests with store_unavailable in time, and counts no failure of their address", async () => {
    const primary = await primaryOf(process.env.MONGODB_URL ?? "");
    const proxy = await startProxy(primary.port);
    const url = primary.through(`127.0.0.1:${proxy.port}`, "outage");
    const mongo = await connectMongo({ url, timeoutMs: TIMEOUT_MS });
    const store = new AccountStore(mongo);
    const authenticator = newAuthenticator({ store, versions: accounts.versions });
    const attempts = () =>
      Promise.all(
        Array.from({ length: 100 }, () =>
          problemOf(authenticate(authenticator, bearer(makeKey(randomBytes))), "store_unavailable"),
        ),
      );
    proxy.close();
    const startedAt = performance.now();
    const [problem] = await attempts();
    expect(performance.now() - startedAt).to.be.below(3 * TIMEOUT_MS);
    expect(problem?.extras.headers).to.have.property("Retry-After");
    await attempts();
    await mongo.close();
  });
});
