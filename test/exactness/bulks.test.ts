import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { limitsOf } from "../../src/limiter/surfaces.ts";
import type { Client } from "../support/client.ts";
import { accountWithKeys, type LogLine } from "../support/processes.ts";
import { useProcesses } from "../support/use-service.ts";
import { sizeOf } from "./size.ts";

const RUNS = sizeOf("EXACTNESS_BULK_RUNS", { small: 1, full: 10 });
const WINDOW_SECONDS = 6;
const LENGTH_MS = WINDOW_SECONDS * 1000;
const REPLICAS = 8;
/** Two of the largest leave some of the account's 200, so that more than one size is admitted. */
const SIZES = [37, 8, 99, 3, 61, 20, 1, 52];

describe(`requests of several candidates, and of one, at ${REPLICAS} processes`, function () {
  this.timeout(60_000 + RUNS * 60_000);
  const service = useProcesses({
    REPLICAS,
    LIMIT_WINDOW_SECONDS: WINDOW_SECONDS,
    LIMITER_TIMEOUT_MS: 10_000,
    STORE_TIMEOUT_MS: 30_000,
  });

  for (let run = 1; run <= RUNS; run++) {
    it(`are admitted up to exactly the limits, each as a whole, over a window's edge (run ${run})`, async () => {
      const { keys } = await accountWithKeys(service, 3);
      const edge = (Math.floor(Date.now() / LENGTH_MS) + 2) * LENGTH_MS; // Redis is on this machine, so both have one clock
      const windows = [edge - LENGTH_MS, edge].map((start) => start / LENGTH_MS);
      await setTimeout(edge - LENGTH_MS + 300 - Date.now());
      const sent = await Promise.all(
        keys.flatMap(({ client }, n) => [0, 1, 2].map((lane) => hammer(client, n + lane, edge))),
      );
      const offers = new Map(sent.flat());

      const ours = (line: LogLine) => offers.has(line.request_id ?? "");
      while (service.log.filter(ours).length < offers.size) await service.logged(ours);
      const lines = service.log.filter(ours).map((line) => ({ ...line, ...offers.get(line.request_id!)! }));
      const sum = (those: typeof lines) => those.reduce((total, { units }) => total + units, 0);
      for (const window of windows) {
        const within = lines.filter((line) => line.window === window);
        const admitted = within.filter(({ verdict }) => verdict === "admitted");
        expect(sum(within), "what was offered").to.be.greaterThan(limitsOf("create", 1).account);
        expect(sum(admitted), "what the account was admitted").to.equal(limitsOf("create", 1).account);
        for (const key of keys)
          expect(sum(admitted.filter(({ key_id }) => key_id === key.id))).to.be.at.most(limitsOf("create", 1).key);
        expect(new Set(admitted.map(({ units }) => units)).size, "sizes that were admitted").to.be.greaterThan(1);
      }
      for (const { verdict, units, created } of lines) expect(created).to.equal(verdict === "admitted" ? units : 0);
      const total = sum(lines.filter(({ verdict }) => verdict === "admitted"));
      expect(await countOf(keys[0]!.client)).to.equal(total);
    });
  }

  /** Sends requests of all sizes until the window is exhausted for one candidate, before the edge and after it. */
  async function hammer(client: Client, first: number, edge: number) {
    const sent: [requestId: string, offer: { units: number; created: number }][] = [];
    const send = async (units: number): Promise<boolean> => {
      const requestId = `bulk-${client.key.slice(-6)}-${first}-${sent.length}`;
      const headers = { "X-Request-Id": requestId };
      const candidates = Array.from({ length: units }, () => ({}));
      const { status, body } = await (units === 1
        ? client.post("/candidates", {}, headers)
        : client.post(`/candidates/bulk?count=${units}`, { candidates }, headers));
      expect(status, JSON.stringify(body)).to.be.oneOf([200, 201, 429]);
      sent.push([requestId, { units, created: status === 201 ? 1 : (body.created ?? 0) }]);
      return status !== 429;
    };
    for (const until of [edge, edge + LENGTH_MS - 500])
      for (let n = first; Date.now() < until; n++) {
        const units = SIZES[n % SIZES.length]!;
        if (!(await send(units)) && units === 1) await setTimeout(until - Date.now());
      }
    return sent;
  }

  async function countOf(client: Client): Promise<number> {
    let count = 0;
    for (let cursor = ""; ;) {
      const { body } = await client.get(`/candidates?limit=1000&cursor=${cursor}`);
      count += body.data.length;
      if (!body.has_more) return count;
      cursor = body.cursor;
    }
  }
});
