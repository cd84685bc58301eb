import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { Client, expectProblem } from "../support/client.ts";
import { KEY_CACHE_SECONDS, useBothVersions } from "./both.ts";
import { PlainClient } from "./plain-client.ts";
import type { Running } from "./versions.ts";

/**
 * 0.1.0 has counters and markers of revocation, the working tree has ledgers with versions of accounts. Neither reads those
 * of the other. CHANGELOG.md says what this one upgrade costs; these tests hold it to that.
 */
describe("two versions with counts of their own", function () {
  this.timeout(60_000);
  const { running, account } = useBothVersions();

  const createKey = ({ command }: Running) =>
    command<{ id: string; key: string }>("keys", "create", "--account", account.id, "--name", "ats");

  /** A key that both have cached, and clients of both with it. */
  async function cachedByBoth() {
    const { id, key } = await createKey(running.earlier);
    const [earlier, later] = [running.earlier, running.later].map(({ url }) => new PlainClient(url, key));
    for (const client of [earlier!, later!]) expect((await client.get("/limits")).status).to.equal(200);
    return { id, earlier: earlier!, later: later! };
  }

  it("do not show the later one what the earlier one's command line does to a cached key, until it is repeated", async () => {
    const { earlier, later } = running;
    const cached = await cachedByBoth();
    const statusOf = async (client: Client) => (await client.get("/candidates")).status;

    await earlier.command("accounts", "suspend", account.id);
    expect([await statusOf(cached.earlier), await statusOf(cached.later)]).to.deep.equal([403, 200]);
    await later.command("accounts", "suspend", account.id);
    expectProblem(await cached.later.get("/candidates"), 403, "account_suspended");
    await earlier.command("accounts", "resume", account.id);
    // The key of a suspended account is not cached.
    expect([await statusOf(cached.earlier), await statusOf(cached.later)]).to.deep.equal([200, 200]);

    const { key } = await earlier.command<{ key: string }>("keys", "rotate", cached.id, "--grace-seconds", "0");
    expect([await statusOf(cached.earlier), await statusOf(cached.later)]).to.deep.equal([401, 200]);
    await later.command("accounts", "resume", account.id);
    expectProblem(await cached.later.get("/candidates"), 401, "api_key_invalid");
    const renewed = new PlainClient(later.url, key);
    expect(await statusOf(renewed)).to.equal(200);

    await earlier.command("keys", "revoke", cached.id);
    expect(await statusOf(renewed)).to.equal(200);
    await later.command("keys", "revoke", cached.id);
    expectProblem(await renewed.get("/candidates"), 401, "api_key_revoked");
  });

  it("show the earlier one what the later one's command line does to a cached key when its cache expires", async () => {
    const cached = await cachedByBoth();
    await running.later.command("keys", "revoke", cached.id);
    expectProblem(await cached.later.get("/candidates"), 401, "api_key_revoked");
    await setTimeout(KEY_CACHE_SECONDS * 1_000);
    expectProblem(await cached.earlier.get("/candidates"), 401, "api_key_revoked");
  });

  for (const [writer, reader] of [
    ["earlier", "later"],
    ["later", "earlier"],
  ] as const) {
    describe(`of which the ${writer} one's command line is used first`, () => {
      it("authenticate a key that the other's command line created, and obey their own command line at once", async () => {
        const { id, key } = await createKey(running[writer]);
        const { command, url } = running[reader];
        const client = new Client(url, key);
        expect((await client.get("/limits")).status).to.equal(200); // the reader now caches the key
        const rotated = await command<{ key: string }>("keys", "rotate", id, "--grace-seconds", "0");
        expectProblem(await client.get("/limits"), 401, "api_key_invalid");
        const renewed = new Client(url, rotated.key);
        expect((await renewed.get("/candidates")).status).to.equal(200);
        await command("accounts", "suspend", account.id);
        expectProblem(await renewed.get("/candidates"), 403, "account_suspended");
        await command("accounts", "resume", account.id);
        expect((await renewed.get("/candidates")).status).to.equal(200);
        await command("keys", "revoke", id);
        expectProblem(await renewed.get("/candidates"), 401, "api_key_revoked");
      });

      it("admit a key's limit once each, and draw together on a grant of the other's command line", async () => {
        const clients = [writer, reader].map((version) => new PlainClient(running[version].url, account.key));
        const create = async (client: Client | undefined, count: number) => {
          const statuses: number[] = [];
          for (let n = 0; n < count; n++) statuses.push((await client!.post("/candidates")).status);
          return [201, 429].map((status) => statuses.filter((each) => each === status).length);
        };
        expect(await create(clients[0], 102)).to.deep.equal([100, 2]);
        expect(await create(clients[1], 102)).to.deep.equal([100, 2]);
        const terms = {
          key: account.keyId,
          surface: "create",
          amount: "5",
          "expires-in-hours": "1",
          "approved-by": "Ann",
          reason: "test",
        };
        await running[writer].command(
          "grants",
          "create",
          ...Object.entries(terms).flatMap(([name, value]) => [`--${name}`, value]),
        );
        expect(await create(clients[1], 2)).to.deep.equal([2, 0]);
        expect(await create(clients[0], 4)).to.deep.equal([3, 1]);
        expect(await create(clients[1], 2)).to.deep.equal([0, 2]);
        const [one, other] = await Promise.all(clients.map(async (client) => (await client.get("/limits")).body));
        const still = (body: unknown) => JSON.stringify(body).replaceAll(/"(reset\w*|retry_after)":[^,}]+/g, "");
        expect(still(one)).to.equal(still(other));
      });
    });
  }
});
