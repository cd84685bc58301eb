import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { type Answer, expectProblem } from "../support/client.ts";
import { useAccount, useProcesses } from "../support/use-service.ts";
import { newKey } from "./support.ts";

describe("concurrent requests with one Idempotency-Key on several replicas", function () {
  this.timeout(60_000);
  const service = useProcesses({ REPLICAS: 3, LIMIT_SCALE: 1_000, LIMITER_TIMEOUT_MS: 5_000 });
  const { client } = useAccount(service);

  const create = (key: string, json: unknown = { external_id: "ats-1" }) =>
    client.post("/candidates", json, { "Idempotency-Key": key });
  const replayed = ({ headers }: Answer) => headers.get("idempotent-replayed") === "true";

  /** Retries until the answer is anything but 409 idempotency_in_flight. */
  async function retryInFlight(key: string, first: Answer): Promise<Answer> {
    for (let answer = first; ; answer = await create(key)) {
      if (answer.status !== 409) return answer;
      expectProblem(answer, 409, "idempotency_in_flight");
      expect(answer.headers.get("retry-after")).to.equal("1");
      await setTimeout(50); // sooner than Retry-After allows
    }
  }

  /** Returns the process ids of the replicas that gave these answers. Their log is written in batches. */
  async function replicasOf(answers: readonly Answer[]): Promise<Set<number>> {
    const ids = new Set(answers.map(({ headers }) => headers.get("x-request-id")));
    const lines = () =>
      service.log.filter(({ request_id, status }) => status !== undefined && ids.has(request_id ?? null));
    while (lines().length < ids.size) await service.logged(() => true);
    return new Set(lines().map(({ pid }) => pid));
  }

  it("create one candidate, and all 100 get the same answer", async () => {
    const key = newKey();
    const firsts = await Promise.all(Array.from({ length: 100 }, () => create(key)));
    const answers = await Promise.all(firsts.map((first) => retryInFlight(key, first)));
    const [original, ...others] = answers.filter((answer) => !replayed(answer));
    expect(others).to.have.length(0);
    expect(original).to.include({ status: 201 });
    for (const { status, body, headers } of answers) {
      expect({ status, body, etag: headers.get("etag") }).to.deep.equal({
        status: 201,
        body: original?.body,
        etag: original?.headers.get("etag"),
      });
    }
    const list = await client.get("/candidates");
    expect(list.body.data).to.deep.equal([original?.body]);
    expect(await replicasOf(firsts), "replicas that took part")
      .to.have.property("size")
      .above(1);
  });

  it("are replayed by every replica, not only by the one that did the work", async () => {
    const key = newKey();
    const first = await create(key);
    const firsts = await Promise.all(Array.from({ length: 60 }, () => create(key)));
    const again = await Promise.all(firsts.map((each) => retryInFlight(key, each)));
    for (const answer of again)
      expect({ body: answer.body, replayed: replayed(answer) }).to.deep.equal({ body: first.body, replayed: true });
    expect(await replicasOf(firsts))
      .to.have.property("size")
      .above(1);
  });

  it("create one candidate and refuse the other body when half of them send another body", async () => {
    const key = newKey();
    const bodies = [{ name: "Ann" }, { name: "Bob" }];
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => create(key, bodies[n % 2])));
    const { data } = (await client.get("/candidates")).body;
    expect(data).to.have.length(1);
    const loser = data[0]?.name === "Ann" ? 1 : 0;
    for (const [n, answer] of answers.entries()) {
      if (n % 2 === loser) expectProblem(answer, 422, "idempotency_key_reused");
      else expect(answer.status).to.be.oneOf([201, 409]);
    }
  });
});
