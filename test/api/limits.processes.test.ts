import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useService } from "../support/use-service.ts";

/** A test does not have to wait for a new window if the window is a day. */
const WINDOW_SECONDS = 86_400;
/** For the test that waits until the next window. */
const SHORT_WINDOW_SECONDS = 6;

describe("rate limits", function () {
  this.timeout(60_000);
  const service = useService();
  const withShortWindow = useService({ LIMIT_WINDOW_SECONDS: SHORT_WINDOW_SECONDS });

  /** Waits until a new short window starts, so that the whole test fits into one window. */
  async function freshWindow(): Promise<void> {
    const length = SHORT_WINDOW_SECONDS * 1000;
    await setTimeout(length - (Date.now() % length) + 5);
  }
  const remainingOf = (headers: Headers) =>
    /^"account-(?:create|list)";r=(\d+);t=(\d+), "key-(?:create|list)";r=(\d+);t=(\d+)$/
      .exec(headers.get("ratelimit") ?? "")
      ?.slice(1)
      .map(Number) ?? [];

  it("are reported for both windows on every response to a valid key, also on a 422", async () => {
    const { client } = await service.account();
    const first = await client.post("/candidates");
    expect(first.headers.get("ratelimit-policy")).to.equal(
      `"account-create";q=200;w=${WINDOW_SECONDS}, "key-create";q=100;w=${WINDOW_SECONDS}`,
    );
    expect([remainingOf(first.headers)[0], remainingOf(first.headers)[2]]).to.deep.equal([199, 99]);
    const wrong = await client.post("/candidates", { name: 1 });
    expect([remainingOf(wrong.headers)[0], remainingOf(wrong.headers)[2]], "a 422 counts as well").to.deep.equal([
      198, 98,
    ]);
  });

  it("refuse a key's 101st create, say when to retry, and charge nothing for refusals", async () => {
    const account = await service.account();
    const other = await account.another();
    const stored = () => service.operators.mongo.db.collection("candidates").countDocuments({});
    const before = await stored();
    const responses = await Promise.all(Array.from({ length: 130 }, () => account.client.post("/candidates")));
    expect((await stored()) - before, "a refused create stores nothing").to.equal(100);
    const refused = responses.filter(({ status }) => status === 429);
    expect(responses.filter(({ status }) => status === 201)).to.have.length(100);
    expect(refused).to.have.length(30);
    const delays = new Set<number>();
    for (const response of refused) {
      const body = expectProblem(response, 429, "rate_limited");
      expect(body.detail).to.match(/^Too many requests.*try again shortly/i);
      expect(body).to.include({ surface: "create", scope: "key", limit: 100, title: "Too many requests" });
      expect(body["violated-policies"]).to.deep.equal(["key-create"]);
      expect(body.type).to.equal("https://iana.org/assignments/http-problem-types#quota-exceeded");
      const [, , keyRemaining, reset = 0] = remainingOf(response.headers);
      expect(keyRemaining).to.equal(0);
      expect(Number(response.headers.get("retry-after"))).to.equal(body.retry_after);
      delays.add(body.retry_after - reset);
    }
    const [delay, ...otherDelays] = delays;
    expect(otherDelays, "every refusal of a key delays it as much").to.deep.equal([]);
    expect(delay).to.be.within(0, WINDOW_SECONDS / 120);
    const elsewhere = await other.client.post("/candidates");
    expect(elsewhere.status).to.equal(201);
    expect(
      [remainingOf(elsewhere.headers)[0], remainingOf(elsewhere.headers)[2]],
      "30 refusals cost nothing",
    ).to.deep.equal([99, 99]);
  });

  it("admit a client that waited exactly Retry-After", async () => {
    const { client } = await withShortWindow.account();
    const start = `/candidates/${(await client.post("/candidates")).body.id}/start`;
    await freshWindow();
    await setTimeout(Math.random() * 1000);
    await Promise.all(Array.from({ length: 10 }, () => client.post(start)));
    const refused = await client.post(start);
    expect(refused.status).to.equal(429);
    await setTimeout(Number(refused.headers.get("retry-after")) * 1000);
    expect((await client.post(start)).status).to.equal(200);
  });

  it("charge nothing for a request without a valid key", async () => {
    const account = await service.account();
    for (const key of ["", "nonsense", `${account.key.slice(0, -1)}${account.key.endsWith("a") ? "b" : "a"}`]) {
      const response = await account.client.get("/candidates", { Authorization: `Bearer ${key}` });
      expect(response.status).to.equal(401);
      expect(response.headers.get("www-authenticate")).to.match(/^Bearer /);
      expect(response.headers.has("ratelimit")).to.equal(false);
    }
    expect(remainingOf((await account.client.get("/candidates")).headers)[0]).to.equal(239);
  });

  it("show a new grant in the next response, although the key had none and its window is not used up", async () => {
    const account = await service.account();
    const policies = async () => (await account.client.get("/candidates")).headers.get("ratelimit-policy");
    const windows = `"account-list";q=240;w=${WINDOW_SECONDS}, "key-list";q=120;w=${WINDOW_SECONDS}`;
    expect([await policies(), await policies()]).to.deep.equal([windows, windows]);
    const terms = { surface: "list", amount: 5, expiresInHours: 1, approvedBy: "Ann", reason: "test" };
    await service.operators.grants.create({ ...terms, keyId: account.keyId });
    expect(await policies()).to.equal(`${windows}, "grant-list";q=5`);
  });
});
