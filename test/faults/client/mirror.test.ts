import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { ConnectionError, type MirrorRow, type OnboardingClient } from "../../../src/client/index.ts";
import { recorded, type Sent, sentTooEarly } from "../../client/support.ts";
import { LoadClient } from "../../support/load.ts";
import { type Fleet, startFleet } from "../replicas/fleet.ts";
import { everyCandidate } from "../replicas/feed.ts";
import { Lanes } from "../replicas/lanes.ts";

const CANDIDATES = 1_000;
const WRITERS = 8;
/** Short windows, so that a refusal can be waited out. */
const SETTINGS = { LIMIT_WINDOW_SECONDS: 4 };
/** Pages are small, so that the mirror asks often. */
const PAGE = 3;

describe("the client's mirror, while eight writers work", function () {
  this.timeout(120_000);
  let fleet: Fleet;
  let clients: { client: OnboardingClient; sent: Sent[] }[];
  let key: string;
  let load: LoadClient;
  before(async () => {
    fleet = await startFleet(2, SETTINGS);
    const { accounts } = fleet.operators;
    const { id: accountId } = await accounts.createAccount({ name: "Test" });
    const keys: string[] = [];
    for (let n = 0; n < 5; n++) keys.push((await accounts.createKey({ accountId, name: `key ${n}` })).key);
    key = keys[0] ?? "";
    load = new LoadClient(fleet.url, 20);
    clients = Array.from({ length: WRITERS + 1 }, (_, n) =>
      recorded({
        baseUrl: fleet.url,
        apiKey: keys[n % keys.length] ?? "",
        maxWait: 60,
        ...(n === 0 ? { fetch: refusedOnce(useUpList) } : {}),
      }),
    );
  });
  after(() => {
    load.close();
    return fleet.stop();
  });

  /** Sends requests with the mirror's key until the list is refused. */
  async function useUpList(): Promise<void> {
    const list = { method: "GET", path: "/candidates?limit=1", key };
    for (;;) {
      const asked = Array.from({ length: 20 }, () => load.send(list).catch(() => undefined));
      const responses = await Promise.all(asked);
      if (responses.some((response) => response?.status === 429)) return;
    }
  }

  it("is equal to the store although a replica is killed, and asks nothing before a Retry-After ends", async () => {
    const [reader, ...writers] = clients;
    if (reader === undefined) throw new Error("There is no reader.");
    const ids: string[] = [];
    const writing = new Lanes(WRITERS, async (lane, turn) => {
      const client = writers[lane]?.client;
      if (client === undefined || ids.length >= CANDIDATES) return setTimeout(5);
      const { id } = await client.createCandidate({ name: `${lane}-${turn}` });
      ids.push(id);
      // A PATCH whose response is lost is not repeated, so its writer learns of it.
      if (turn % 4 === 1)
        await client.updateCandidate(id, { job_title: "changed" }).catch((error: unknown) => {
          if (!(error instanceof ConnectionError)) throw error;
        });
      if (turn % 8 === 3) await client.deleteCandidate(id);
    });

    const copy = new Map<string, MirrorRow>();
    const stop = new AbortController();
    const mirror = reader.client.mirror({ limit: PAGE, every: 0.02, signal: stop.signal });
    const mirroring = (async () => {
      for await (const row of mirror) {
        if (row.deleted) copy.delete(row.id);
        else copy.set(row.id, row);
      }
    })().catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });

    while (ids.length < CANDIDATES / 2) await Promise.race([setTimeout(20), mirroring]);
    await fleet.members[0]?.end("SIGKILL");
    while (ids.length < CANDIDATES) await Promise.race([setTimeout(20), mirroring]);
    await writing.end();

    const stored = [...(await everyCandidate(load, key)).values()].filter((row) => !("deleted" in row));
    const versions = (all: Iterable<{ id: string; version: number }>) =>
      Array.from(all, ({ id, version }) => `${id} ${version}`).toSorted();
    const wanted = versions(stored).join();
    for (const end = performance.now() + 30_000; versions(copy.values()).join() !== wanted && performance.now() < end;)
      await setTimeout(50);
    stop.abort();
    await mirroring;

    const sent = clients.flatMap((each) => each.sent);
    // Each client knows its own refusals of a surface. All requests of the reader are for one surface.
    const early = sentTooEarly(reader.sent) + writers.reduce((sum, writer) => sum + earlyOf(writer.sent), 0);
    const refusals = reader.sent.filter(({ answered }) => answered?.status === 429);
    expect(stored.length).to.be.at.least(CANDIDATES * 0.8);
    expect([...copy.values()]).to.have.deep.members(stored);
    expect(early).to.equal(0);
    expect(refusals, "refusals of the mirror").not.to.have.length(0);
    expect(
      sent.filter(({ answered }) => answered === undefined),
      "somebody was cut off",
    ).not.to.have.length(0);
  });
});

/** Returns a `fetch` that lets `useUp` use up the limit before each request, until a request is refused. */
function refusedOnce(useUp: () => Promise<void>): (url: string, init: RequestInit) => Promise<Response> {
  let refused = false;
  return async (url, init) => {
    if (!refused) await useUp();
    const response = await fetch(url, init);
    refused ||= response.status === 429;
    return response;
  };
}

/** Returns how many requests were sent before a Retry-After of their own surface ended. */
function earlyOf(sent: readonly Sent[]): number {
  const surfaceOf = ({ method }: Sent): string => (method === "POST" ? "create" : "writes");
  return (
    sentTooEarly(sent.filter((each) => surfaceOf(each) === "create")) +
    sentTooEarly(sent.filter((each) => surfaceOf(each) === "writes"))
  );
}
