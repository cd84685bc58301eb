import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { type Answer, Client, expectProblem } from "../support/client.ts";
import { expectInContract } from "../support/contract.ts";
import { useAccount, useReplicas } from "../support/use-service.ts";
import { newKey } from "./support.ts";

describe("concurrent requests with one Idempotency-Key on several replicas", function () {
  this.timeout(60_000);
  const replicas = useReplicas(3, { LIMIT_SCALE: 1_000, LIMITER_TIMEOUT_MS: 5_000 });
  const account = useAccount({ account: () => replicas.first.account() });
  const { client } = account;

  /** Sends a create to the replicas in turn. */
  function create(key: string, n: number, json: unknown = { external_id: "ats-1" }): Promise<Answer> {
    const { url } = replicas.all[n % replicas.all.length]!;
    return new Client(url, account.key, expectInContract).post("/candidates", json, { "Idempotency-Key": key });
  }
  const createAll = (key: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => create(key, n)));
  const replayed = ({ headers }: Answer) => headers.get("idempotent-replayed") === "true";

  /** Retries at the same replica until the response is anything but 409 idempotency_in_flight. */
  async function retryInFlight(key: string, first: Answer, n: number): Promise<Answer> {
    for (let response = first; ; response = await create(key, n)) {
      if (response.status !== 409) return response;
      expectProblem(response, 409, "idempotency_in_flight");
      expect(response.headers.get("retry-after")).to.equal("1");
      await setTimeout(50); // sooner than Retry-After allows
    }
  }

  it("create one candidate, and all 100 get the same response", async () => {
    const key = newKey();
    const firsts = await createAll(key, 100);
    const responses = await Promise.all(firsts.map((first, n) => retryInFlight(key, first, n)));
    const [original, ...others] = responses.filter((response) => !replayed(response));
    expect(others).to.have.length(0);
    expect(original).to.include({ status: 201 });
    for (const { status, body, headers } of responses) {
      expect({ status, body, etag: headers.get("etag") }).to.deep.equal({
        status: 201,
        body: original?.body,
        etag: original?.headers.get("etag"),
      });
    }
    const list = await client.get("/candidates");
    expect(list.body.data).to.deep.equal([original?.body]);
  });

  it("are replayed by every replica, not only by the one that did the work", async () => {
    const key = newKey();
    const first = await create(key, 0);
    const firsts = await createAll(key, 60);
    const again = await Promise.all(firsts.map((each, n) => retryInFlight(key, each, n)));
    for (const response of again)
      expect({ body: response.body, replayed: replayed(response) }).to.deep.equal({ body: first.body, replayed: true });
  });

  it("create one candidate and refuse the other body when half of them send another body", async () => {
    const key = newKey();
    const bodies = [{ name: "Ann" }, { name: "Bob" }];
    const responses = await Promise.all(Array.from({ length: 100 }, (_, n) => create(key, n, bodies[n % 2])));
    const { data } = (await client.get("/candidates")).body;
    expect(data).to.have.length(1);
    const loser = data[0]?.name === "Ann" ? 1 : 0;
    for (const [n, response] of responses.entries()) {
      if (n % 2 === loser) expectProblem(response, 422, "idempotency_key_reused");
      else expect(response.status).to.be.oneOf([201, 409]);
    }
  });
});
