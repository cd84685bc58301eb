import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { limitsOf, SURFACES, type Surface } from "../../src/limiter/surfaces.ts";
import { LoadClient } from "../support/load.ts";
import { accountWithKeys, type LogLine, type Processes } from "../support/processes.ts";
import { REQUESTS } from "../support/requests.ts";
import { useProcesses } from "../support/use-service.ts";
import { sizeOf } from "./size.ts";

const RUNS = sizeOf("EXACTNESS_RUNS", { small: 1, full: 10 });
const WINDOW_SECONDS = 10;
const REPLICAS = 8;
/** Refusals after which a lane pauses. */
const MAX_REFUSALS = 25;

interface Offer {
  key: string;
  keyId: string;
  /** Whether to send only three tenths of its limit in each window, so that the account has room left. Else without pause. */
  modest: boolean;
}

describe(`the limiter with ${REPLICAS} processes`, function () {
  this.timeout(60_000 + RUNS * 60_000);
  const service = useProcesses({
    REPLICAS,
    LIMIT_WINDOW_SECONDS: WINDOW_SECONDS,
    LIMITER_TIMEOUT_MS: 10_000,
    STORE_TIMEOUT_MS: 30_000,
  });

  for (let run = 1; run <= RUNS; run++) {
    it(`admits exactly min(offered, limit) for an account and each key, in two consecutive windows (run ${run})`, async () => {
      service.log.splice(0); // so that each run sees only its own lines
      const shared = await accountWithKeys(service, 3);
      const lopsided = await accountWithKeys(service, 3);
      const candidates = new Map<string, string>();
      for (const { id, keys } of [shared, lopsided])
        candidates.set(id, (await keys[0]!.client.post("/candidates")).body.id);

      const length = WINDOW_SECONDS * 1000;
      const edge = (Math.floor(Date.now() / length) + 1) * length; // Redis is on this machine, so both have one clock
      await setTimeout(edge - Date.now() + 300); // start well inside the first window
      const crossing = edge + length;
      const until = edge + 2 * length - 500; // end well inside the second
      const offers = (keys: { id: string; client: { key: string } }[], modest = false): Offer[] =>
        keys.map(({ id, client }) => ({ key: client.key, keyId: id, modest }));
      const [greedy, ...modest] = lopsided.keys;
      const admitted = new Map<string, number>();
      const sent = await Promise.all([
        hammer(offers(shared.keys), candidates.get(shared.id)!, crossing, until, admitted),
        hammer(
          [...offers([greedy!]), ...offers(modest, true)],
          candidates.get(lopsided.id)!,
          crossing,
          until,
          admitted,
        ),
      ]);

      await untilLogged(
        [shared.id, lopsided.id],
        edge,
        sent.reduce((sum, count) => sum + count),
      );

      const full: boolean[] = [];
      for (const surface of SURFACES) {
        const limit = limitsOf(surface, 1);
        const windows = perWindow(service, edge, { account: shared.id, surface });
        const offered = shared.keys.map(({ id }) => perWindow(service, edge, { key_id: id, surface }));
        const expected = windows.map((_, n) =>
          Math.min(
            limit.account,
            offered.reduce((sum, key) => sum + Math.min(key[n]!.offered, limit.key), 0),
          ),
        );
        expect(
          windows.map(({ admitted }) => admitted),
          `${surface}: the account, window by window`,
        ).to.deep.equal(expected);
        full.push(...expected.slice(0, 2).map((count) => count === limit.account));
        const byKey = shared.keys.map(({ id }) => admitted.get(`${id} ${surface}`) ?? 0);
        expect(
          byKey.reduce((sum, count) => sum + count),
          `${surface}: what the clients saw`,
        ).to.equal(expected.reduce((sum, count) => sum + count));

        for (const { id } of [...shared.keys, ...lopsided.keys]) {
          const ofKey = perWindow(service, edge, { key_id: id, surface });
          const seen = admitted.get(`${id} ${surface}`) ?? 0;
          expect(
            ofKey.reduce((sum, window) => sum + window.admitted, 0),
            `${surface}: log and client agree`,
          ).to.equal(seen);
          for (const window of ofKey)
            expect(window.admitted, `${surface}: no key over its limit`).to.be.at.most(limit.key);
        }
        // If the account has room, each key gets exactly the lesser of what it offered and its limit.
        for (const { id } of lopsided.keys) {
          for (const window of perWindow(service, edge, { key_id: id, surface })) {
            expect(window.admitted, `${surface}: a key of an account with room`).to.equal(
              Math.min(window.offered, limit.key),
            );
          }
        }
      }
      // The counts are checked in windows that were not exhausted, too. How many are exhausted depends on the machine's
      // speed. But a run that does not even exhaust the three smallest surfaces in both windows proves little.
      const exhausted = full.filter(Boolean).length;
      process.stdout.write(`      ${exhausted} of ${full.length} windows of the shared account were exhausted\n`);
      expect(exhausted).to.be.at.least(6);
    });
  }

  /** Waits until `count` requests of these accounts are logged. A request's log line comes after its response. */
  async function untilLogged(accounts: string[], edge: number, count: number): Promise<void> {
    const first = Math.round(edge / (WINDOW_SECONDS * 1000));
    const ours = (line: LogLine) => accounts.includes(line.account ?? "") && (line.window ?? 0) >= first;
    while (service.log.filter(ours).length < count) await service.logged(ours);
  }

  /**
   * Sends requests in several lanes: for each key and surface one if the key is modest, else four. Counts the admitted ones
   * in `admitted`, by key and surface. @returns the number of requests sent.
   */
  async function hammer(
    offers: Offer[],
    candidate: string,
    edge: number,
    until: number,
    admitted: Map<string, number>,
  ): Promise<number> {
    let sent = 0;
    const load = new LoadClient(service.url, 64);
    const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
    const lane = async ({ key, keyId, modest }: Offer, surface: Surface) => {
      const name = `${keyId} ${surface}`;
      let refused = 0;
      while (Date.now() < until) {
        sent++;
        const { status, body } = await load.send(REQUESTS[surface](key, candidate));
        if (status < 300) count(admitted, name);
        else {
          expect(status, body).to.equal(429);
          refused++;
        }
        if (modest) await setTimeout((WINDOW_SECONDS * 1000) / (0.3 * limitsOf(surface, 1).key));
        if (refused < MAX_REFUSALS) continue;
        // This lane was refused often enough in this window. It leaves the machine to the others until just before the edge.
        refused = 0;
        const now = Date.now();
        if (now < edge - 200) await setTimeout(edge - 200 - now);
        else if (now > edge) return;
      }
    };
    const lanes = offers.flatMap((offer) =>
      SURFACES.flatMap((surface) => Array.from({ length: offer.modest ? 1 : 4 }, () => lane(offer, surface))),
    );
    await Promise.all(lanes);
    load.close();
    return sent;
  }
});

/**
 * Counts the log lines with these members in each of the three windows from an edge on. The third one is there because a
 * busy machine may run into it.
 */
function perWindow(
  { log }: Processes,
  edge: number,
  members: Partial<LogLine>,
): { offered: number; admitted: number }[] {
  const first = Math.round(edge / (WINDOW_SECONDS * 1000));
  return [first, first + 1, first + 2].map((window) => {
    const lines = log.filter((line) =>
      Object.entries({ ...members, window }).every(([name, value]) => line[name as keyof LogLine] === value),
    );
    return { offered: lines.length, admitted: lines.filter(({ verdict }) => verdict === "admitted").length };
  });
}
