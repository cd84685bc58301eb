import { expect } from "chai";
import type { Candidate } from "../../src/candidates/schema.ts";
import { type LoadAnswer, LoadClient } from "../support/load.ts";
import { useProcesses } from "../support/use-service.ts";

const WRITERS = 8;

describe("a mirror that is built only from the feed", function () {
  this.timeout(60_000);
  // Several processes keep the machine busy. The limiter's speed is not under test, so its timeout is generous.
  const service = useProcesses({ REPLICAS: 4, LIMIT_SCALE: 1000, LIMITER_TIMEOUT_MS: 5_000, STORE_TIMEOUT_MS: 5_000 });

  interface Run {
    key: string;
    load: LoadClient;
    /** Candidates whose creation was answered with 201, by id. */
    acknowledged: Map<string, Candidate>;
    /** Requests whose connection broke. */
    broken: number;
  }

  async function write(run: Run, count: number, writer: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const body = JSON.stringify({ external_id: `${writer}-${n}`, documents: ["CV"] });
      const answer = await run.load
        .send({ method: "POST", path: "/candidates", key: run.key, body })
        .catch((): LoadAnswer | undefined => undefined);
      if (answer === undefined) {
        run.broken++;
        continue;
      }
      expect(answer.status).to.equal(201);
      const candidate = JSON.parse(answer.body) as Candidate;
      run.acknowledged.set(candidate.id, candidate);
    }
  }

  /** Reads from a cursor to the end of the feed. @returns the last cursor. */
  async function catchUp(run: Run, mirror: Map<string, Candidate>, cursor: string): Promise<string> {
    for (;;) {
      const path = `/candidates?limit=20${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const answer = await run.load
        .send({ method: "GET", path, key: run.key })
        .catch((): LoadAnswer | undefined => undefined);
      if (answer === undefined) continue; // its replica was killed; retry with the same cursor
      const page = JSON.parse(answer.body) as { data: Candidate[]; has_more: boolean; cursor: string };
      for (const candidate of page.data) mirror.set(candidate.id, candidate);
      ({ cursor } = page);
      if (!page.has_more) return cursor;
    }
  }

  async function start(): Promise<Run> {
    const { key } = await service.account();
    return { key, load: new LoadClient(service.url, 16), acknowledged: new Map(), broken: 0 };
  }

  /** Runs eight writers and a reader that mirrors at the same time. Then reads the whole feed again, as `store`. */
  async function writeAndMirror(
    run: Run,
    each: number,
  ): Promise<{ mirror: Map<string, Candidate>; store: Map<string, Candidate> }> {
    const mirror = new Map<string, Candidate>();
    let writing = true;
    let cursor = "";
    const reader = (async () => {
      while (writing) cursor = await catchUp(run, mirror, cursor);
    })();
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(run, each, writer)));
    writing = false;
    await reader;
    await catchUp(run, mirror, cursor);
    const store = new Map<string, Candidate>();
    await catchUp(run, store, "");
    run.load.close();
    return { mirror, store };
  }

  it("equals the store after eight concurrent writers", async () => {
    const run = await start();
    const { mirror, store } = await writeAndMirror(run, 50);
    expect(run.broken).to.equal(0);
    expect(run.acknowledged.size).to.equal(WRITERS * 50);
    expect(Object.fromEntries(mirror)).to.deep.equal(Object.fromEntries(store));
    expect(mirror.size).to.equal(run.acknowledged.size);
  });

  it("has every candidate that was acknowledged with 201, even if a replica is killed (SIGKILL) under load", async () => {
    const run = await start();
    const replaced = service.logged(({ msg }) => msg === "serving");
    // The kernel decides which replicas get the connections, so kill one that has logged a create.
    let made = 0;
    const killed = service
      .logged(({ surface }) => surface === "create" && ++made === (WRITERS * 50) / 2)
      .then(({ pid }) => process.kill(pid, "SIGKILL"));
    const { mirror, store } = await writeAndMirror(run, 50);
    await killed;
    await replaced;
    expect(run.acknowledged.size).to.equal(WRITERS * 50 - run.broken);
    for (const [id, candidate] of run.acknowledged) {
      expect(store.get(id), "kept").to.deep.equal(candidate);
      expect(mirror.get(id), "mirrored").to.deep.equal(candidate);
    }
  });
});
