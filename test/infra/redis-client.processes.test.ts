import { expect } from "chai";
import type { RedisClient } from "../../src/infra/redis.ts";
import { clockTime, serverOf } from "../../src/infra/redis-connections.ts";
import { useRedisClient } from "../support/servers.ts";
import { useStarted } from "../support/use-started.ts";
import { asking, connectionsTo, FORMS } from "./redis-forms.ts";

for (const [form, start] of Object.entries(FORMS))
  describe(`the connection to ${form}`, () => {
    const redis = useStarted(form, start, (started) => started.stop());
    const database = form === "a cluster" ? 0 : 3;
    const client = useRedisClient(redis);

    it("has the service's name, and the users and the database that REDIS_URL names", async () => {
      await client.set("here", "1");
      const connections = await connectionsTo(redis.server.url);
      const own = connections.filter((each) => each.includes("name=candidate-onboarding-service"));
      expect(own).to.have.length.above(0);
      for (const each of own) expect(each).to.include("user=ann").and.include(`db=${database}`);
      if (redis.sentinelUrl !== undefined)
        expect((await connectionsTo(redis.sentinelUrl)).join("\n")).to.include("user=sen");
    });

    it("sends commands to that server, and takes the time from it", async () => {
      await client.set("there", "2");
      const found = await asking(`${redis.server.url}/${database}`, (own) => own.get("there"));
      expect(found).to.equal("2");
      expect(await clockTime(client)).to.be.closeTo(Date.now(), 60_000);
      const name = form === "a cluster" ? `127.0.0.1:${redis.server.port}` : "the only one";
      expect(serverOf(client, "acct_1")).to.equal(name);
    });

    it("refuses a command at once while the server is down, and works again when it is back", async () => {
      await client.set("counted", "0");
      const lost = next(client, "close");
      await redis.server.kill();
      await lost;
      const began = performance.now();
      const failed = await client.incr("counted").catch((error: unknown) => error);
      expect(failed).to.be.an("error");
      expect(performance.now() - began).to.be.below(1_000);
      const ready = next(client, "ready");
      await redis.server.restart();
      await ready;
      expect(await client.incr("counted")).to.equal(1);
    });
  });

/** Waits for an event. node:events' once would fail at the errors that the client reports while the server is down. */
function next(client: RedisClient, event: string): Promise<void> {
  return new Promise((resolve) => void client.once(event, () => resolve()));
}
