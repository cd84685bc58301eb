import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { useProxy } from "../limiter/proxy.ts";
import { redisNow } from "../limiter/support.ts";
import { Client, expectProblem } from "../support/client.ts";
import { useRedisClient, useRedisServer } from "../support/servers.ts";
import { useOwnService } from "../support/use-service.ts";

/**
 * A response that is so late, in milliseconds, still sets the replica's clock, which is then behind by as much. One that
 * is a second late does not.
 */
const BEHIND_MS = 800;
/** The test sends its requests well within this time after the end of the secret. */
const ENOUGH_MS = 300;

/**
 * A replica refuses an ended secret by its own clock. That clock may be up to a second behind Redis's, so Redis must
 * check the secret's end too.
 */
describe("a secret whose grace is over by Redis's clock, on a replica whose clock is behind", () => {
  const server = useRedisServer();
  const proxy = useProxy(server);
  const service = useOwnService(() => ({ REDIS_URL: proxy.url }));
  const redis = useRedisClient(server);

  it("reads no limits and is not admitted, while the new one does and is", async () => {
    const account = await service.account();
    const old = account.client;
    const rotated = await service.operators.accounts.rotateKey({ keyId: account.keyId, graceSeconds: 5 });
    const renewed = new Client(service.url, rotated.key);
    const endsAt = Date.parse(rotated.previous_secret_expires_at ?? "");
    expect((await renewed.get("/limits")).status).to.equal(200);
    expect((await old.get("/limits")).status).to.equal(200);

    proxy.answerDelayMs = BEHIND_MS;
    for (let behindMs = 0; behindMs < ENOUGH_MS;) {
      const sentAt = await redisNow(redis);
      const created = await renewed.post("/candidates");
      expect(created.status).to.equal(201);
      behindMs = sentAt + BEHIND_MS - Date.parse(created.body.created_at); // it was created after the response
    }
    proxy.answerDelayMs = 0;
    while ((await redisNow(redis)) < endsAt) await setTimeout(5);

    // They arrive together, so that the reads after the first one could share a response.
    const responses = await Promise.all([old, renewed, old, renewed].map((client) => client.get("/limits")));
    expect(responses.map(({ status }) => status)).to.deep.equal([401, 200, 401, 200]);
    expectProblem(responses[0]!, 401, "api_key_invalid");
    expectProblem(await old.get("/candidates"), 401, "api_key_invalid");
    expect((await renewed.get("/candidates")).status).to.equal(200);
  });
});
