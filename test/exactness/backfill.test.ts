import { expect } from "chai";
import type { Candidate } from "../../src/candidates/schema.ts";
import { limitsOf, type Surface } from "../../src/limiter/surfaces.ts";
import { everyCandidate } from "../faults/replicas/feed.ts";
import { REPLICAS, termsOf } from "../grants/support.ts";
import { clearOfMidnight, useTestRedis } from "../limiter/support.ts";
import { LoadClient, type LoadAnswer } from "../support/load.ts";
import { accountWithKeys } from "../support/processes.ts";
import { useReplicas } from "../support/use-service.ts";
import { sizeOf } from "./size.ts";

const CANDIDATES = sizeOf("BACKFILL_CANDIDATES", { small: 300, full: 2_000 });
const LANES = 4;
const SURFACES = ["create", "start", "writes"] as const satisfies Surface[];

describe(`a backfill of ${CANDIDATES} candidates on ${REPLICAS} replicas, by grants on one key`, function () {
  this.timeout(120_000 + CANDIDATES * 150);
  const redis = useTestRedis();
  const replicas = useReplicas(REPLICAS, { LIMITER_TIMEOUT_MS: 10_000, STORE_TIMEOUT_MS: 30_000 });
  before(() => clearOfMidnight(redis));

  it("creates and starts every candidate and uploads its document in one window, and leaves the other key its limits", async () => {
    const { keys: made } = await accountWithKeys(replicas.first, 2);
    const [granted = "", other = ""] = made.map(({ client }) => client.key);
    const { grants } = replicas.first.operators;
    // What the key's own window admits is not granted, so each grant ends with the last candidate.
    for (const surface of SURFACES)
      await grants.create(termsOf(made[0]!.id, { surface, amount: CANDIDATES - limitsOf(surface, 1).key }));

    const names = Array.from({ length: CANDIDATES }, (_, n) => `person ${n}`);
    const created = await inLanes(names, async (load, name) => {
      const body = JSON.stringify({ name, documents: ["CV"] });
      return candidateOf(await load.send({ method: "POST", path: "/candidates", key: granted, body }), 201);
    });
    await inLanes(created, async (load, { id }) =>
      candidateOf(await load.send({ method: "POST", path: `/candidates/${id}/start`, key: granted }), 200),
    );
    await inLanes(created, async (load, candidate) => {
      const path = contentOf(candidate);
      const headers = { "Content-Type": "text/plain" };
      return candidateOf(await load.send({ method: "PUT", path, key: granted, body: "bytes", headers }), 200);
    });
    const first = created[0]!;
    expect(await admittedOf(granted, first, 1), "the grants are used up").to.deep.equal({
      create: 0,
      start: 0,
      writes: 0,
    });
    expect(await admittedOf(other, first, 105), "the other key").to.deep.equal({ create: 100, start: 10, writes: 100 });

    const load = new LoadClient(replicas.first.url, 1);
    const shown = await everyCandidate(load, granted);
    load.close();
    expect([...shown.values()].filter(({ name }) => name?.startsWith("person"))).to.have.length(CANDIDATES);
    for (const { id } of created) {
      const { started_at, documents } = shown.get(id) ?? {};
      expect(started_at).to.be.a("string");
      expect(documents?.map(({ state }) => state)).to.deep.equal(["received"]);
    }
  });

  /** Does the work for each item, through all replicas at once. @returns the results in the order of the items. */
  async function inLanes<Item, Result>(
    items: readonly Item[],
    work: (load: LoadClient, item: Item) => Promise<Result>,
  ): Promise<Result[]> {
    const results: Result[] = [];
    const clients = replicas.all.map(({ url }) => new LoadClient(url, LANES));
    let next = 0;
    const lane = async (load: LoadClient) => {
      while (next < items.length) {
        const index = next++;
        results[index] = await work(load, items[index]!);
      }
    };
    await Promise.all(clients.flatMap((load) => Array.from({ length: LANES }, () => lane(load))));
    for (const load of clients) load.close();
    return results;
  }

  /** Sends requests of each surface. @returns how many were admitted. */
  async function admittedOf(key: string, candidate: Candidate, requests: number): Promise<Record<string, number>> {
    const { id } = candidate;
    const asks = {
      create: { method: "POST", path: "/candidates", body: "{}" },
      start: { method: "POST", path: `/candidates/${id}/start` },
      writes: { method: "PATCH", path: `/candidates/${id}`, body: '{"job_title": "cook"}' },
    };
    const admitted: Record<string, number> = {};
    for (const surface of SURFACES) {
      const statuses = await inLanes(Array.from({ length: requests }), async (load) => {
        const { status } = await load.send({ ...asks[surface], key });
        expect(status).to.be.oneOf([200, 201, 429]);
        return status;
      });
      admitted[surface] = statuses.filter((status) => status < 300).length;
    }
    return admitted;
  }
});

function candidateOf({ status, body }: LoadAnswer, expected: number): Candidate {
  expect(status, body).to.equal(expected);
  return JSON.parse(body) as Candidate;
}

function contentOf({ id, documents }: Candidate): string {
  return `/candidates/${id}/documents/${documents[0]?.id}/content`;
}
