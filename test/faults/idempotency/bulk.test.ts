import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { Answer } from "../../support/client.ts";
import type { LogLine } from "../../support/processes.ts";
import { termsOf } from "../../grants/support.ts";
import { newKey } from "../../idempotency/support.ts";
import { useProcesses, useSharedAccount } from "../../support/use-service.ts";

/** Number of requests that must be cut off in their work. */
const CUTS = Number(process.env.BULK_CUTS ?? 3);
/** Minimum number of candidates. 50,000 take two minutes on two cores. */
const CANDIDATES = Number(process.env.BULK_CANDIDATES ?? 0);

const isServing = ({ msg }: LogLine) => msg === "serving";

describe("a request of 100 candidates whose replica is killed with SIGKILL", function () {
  this.timeout(60_000 + CUTS * 20_000 + CANDIDATES * 12);
  const service = useProcesses({ REPLICAS: 2, LIMITER_TIMEOUT_MS: 5_000, STORE_TIMEOUT_MS: 30_000 });
  const account = useSharedAccount(service);
  const { client } = account;

  it("goes on when it is sent again: it creates nothing twice, and nothing is missing", async () => {
    const expected: string[] = [];
    let workers = service.log.filter(isServing).map(({ pid }) => pid);
    const amount = 2 * (CANDIDATES + 10_000);
    await service.operators.grants.create(termsOf(account.keyId, { surface: "create", amount }));
    for (let cuts = 0, turn = 0; cuts < CUTS || expected.length < CANDIDATES; turn++) {
      const names = Array.from({ length: 100 }, (_, n) => `${turn}-${n}`);
      const key = newKey();
      const first = send(turn, names, key).catch(() => undefined);
      if (cuts >= CUTS) {
        expected.push(...namesOf(names, (await first)!));
        continue;
      }
      await setTimeout(Math.random() * 400);
      // One of the two: without a worker, the port would be closed.
      const [killed, other] = Math.random() < 0.5 ? workers : workers.toReversed();
      const replaced = service.logged(isServing);
      process.kill(killed!, "SIGKILL");
      const answer = await first;
      if (answer === undefined) cuts++;
      workers = [other!, (await replaced).pid];
      expected.push(...namesOf(names, answer ?? (await sendUntilAnswered(turn, names, key))));
    }
    const rows: string[] = [];
    for (let cursor = "", more = true; more;) {
      const { body } = await client.get(`/candidates?limit=1000&cursor=${cursor}`);
      rows.push(...body.data.map(({ name, id }) => `${name} ${id}`));
      ({ cursor, has_more: more } = body);
    }
    expect(rows.toSorted((a, b) => a.localeCompare(b))).to.deep.equal(expected.toSorted((a, b) => a.localeCompare(b)));
  });

  function namesOf(names: readonly string[], { status, body }: Answer): string[] {
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ created: 100, failed: 0 });
    return body.results.map(({ id }, n) => `${names[n]} ${id}`);
  }

  /** Every second turn the candidates have external_ids, and on_conflict changes what is there. */
  function send(turn: number, names: string[], key: string): Promise<Answer> {
    const isNamed = turn % 2 === 1;
    const candidates = names.map((name) => ({
      name,
      references: [{ name: "Jo", email: "jo@example.com" }],
      ...(isNamed ? { external_id: name } : {}),
    }));
    const query = isNamed ? "&on_conflict=update" : "";
    return client.post(`/candidates/bulk?count=100${query}`, { candidates }, { "Idempotency-Key": key });
  }

  async function sendUntilAnswered(turn: number, names: string[], key: string): Promise<Answer> {
    for (;;) {
      const answer = await send(turn, names, key).catch(() => undefined);
      if (answer !== undefined && answer.body.code !== "idempotency_in_flight") return answer;
      await setTimeout(500);
    }
  }
});
