import { expect } from "chai";
import { limitsOf, type Surface, SURFACES } from "../../src/limiter/surfaces.ts";
import { everyCandidate, Mirror, missedBy } from "../faults/replicas/feed.ts";
import { type Fleet, startFleet } from "../faults/replicas/fleet.ts";
import { clearOfTheHour } from "../faults/replicas/hour.ts";
import { LoadClient } from "../support/load.ts";
import type { Settings } from "../support/processes.ts";
import { REQUESTS } from "../support/requests.ts";
import { newAccount } from "../support/service.ts";
import { Rollout } from "./rollout.ts";
import { useVersions, type Version } from "./versions.ts";
import { Writers } from "./writers.ts";

const PROCESSES = 2;
const CONNECTIONS = 16;
/** Surfaces whose limits a roll can exhaust on a slow machine. The others have larger limits, but the same script. */
const EXHAUSTED = SURFACES.filter((surface) => limitsOf(surface, 1).key <= 100);
/** No window may end in the middle of a roll. */
const ROOM_MS = 120_000;

describe("a roll from the earlier version to the working tree and back, under load", function () {
  this.timeout(ROOM_MS + 180_000);
  const versions = useVersions();
  let fleet: Fleet | undefined;
  let load: LoadClient;

  async function start(settings: Settings): Promise<{ fleet: Fleet; rollout: Rollout }> {
    await clearOfTheHour(ROOM_MS);
    fleet = await startFleet(PROCESSES, settings, { main: versions.earlier.main });
    load = new LoadClient(fleet.url, CONNECTIONS);
    return { fleet, rollout: new Rollout(fleet, versions.earlier) };
  }
  afterEach(async () => {
    load?.close();
    await fleet?.stop();
    fleet = undefined;
  });

  it("fails no request, replays every answer, charges each request once, and leaves a mirror equal to the store", async () => {
    const { fleet, rollout } = await start({ LIMIT_SCALE: 1_000 }); // far above the load
    const { id, keyId, key } = await newAccount(fleet.operators, fleet.url);
    const writers = new Writers(fleet.url, load, key);
    const mirror = new Mirror(load, key);
    const unread: string[] = [];
    const reading = mirror.follow(() => unread.push(mirror.lastFault));
    const writing = writers.start();
    await rollout.replaceAll(versions.later);
    await rollout.replaceAll(versions.earlier);
    await writing.end();
    await reading.end();

    expect(writers.failures.slice(0, 5), `the first of ${writers.failures.length} failures`).to.deep.equal([]);
    expect(unread, "pages of the feed that could not be read").to.deep.equal([]);
    const { surfaces } = await fleet.operators.usage({ accountId: id, keyId });
    for (const { surface, key: counted, account } of surfaces) {
      if (surface === "list") continue; // the mirror does not count its pages
      const offered = writers.offered[surface] ?? 0;
      expect({ key: counted.used, account: account.used }, surface).to.deep.equal({ key: offered, account: offered });
    }
    expect(await missedBy(mirror, load, key)).to.deep.equal([]);
    const store = await everyCandidate(load, key);
    expect(different(mirror.candidates, store), "the mirror").to.deep.equal([]);
    expect(different(writers.acknowledged, store), "the last answers").to.deep.equal([]);

    await rollout.end();
    expect(rollout.exitCodes).to.deep.equal(rollout.exitCodes.map(() => 0));
    const [earlier, later] = [versions.earlier, versions.later].map(
      (version) => new Set(rollout.logOf(version).map(({ request_id: requestId }) => requestId)),
    );
    const forth = writers.replays.filter(({ first, second }) => earlier!.has(first) && later!.has(second)).length;
    const back = writers.replays.filter(({ first, second }) => later!.has(first) && earlier!.has(second)).length;
    process.stdout.write(
      `      ${store.size} candidates; replays: ${writers.replays.length}, of which ${forth} by the later version, ` +
        `${back} by the earlier one, of what the other had done\n`,
    );
    expect(forth, "answers of the earlier version that the later one replayed").to.be.above(0);
    expect(back, "answers of the later version that the earlier one replayed").to.be.above(0);
  });

  /** Returns the first of the candidates that differ, with both of what is known about it. */
  function different(candidates: Map<string, unknown>, store: Map<string, unknown>): unknown[] {
    const ids = [...new Set([...candidates.keys(), ...store.keys()])];
    const differs = (id: string) => JSON.stringify(candidates.get(id)) !== JSON.stringify(store.get(id));
    return ids
      .filter(differs)
      .map((id) => [candidates.get(id), store.get(id)])
      .slice(0, 1);
  }

  /**
   * In each stage of the roll, each key of an account sends this share of its limit. The keys of the
   * first account exhaust the account in the middle of the roll; the first key of the second one exhausts only itself.
   */
  const SHARED = [0.25, 0.25, 0.25];
  const ROOMY = [0.4, 0.08];
  const STAGES = 2 * PROCESSES + 1;

  it("admits exactly min(offered, limit) for an account and each of its keys", async () => {
    const { fleet, rollout } = await start({});
    const shared = await account(fleet, SHARED);
    const roomy = await account(fleet, ROOMY);
    const step: Version[] = [
      ...Array<Version>(PROCESSES).fill(versions.later),
      ...Array<Version>(PROCESSES).fill(versions.earlier),
    ];
    for (let stage = 0; stage < STAGES; stage++) {
      const version = step[stage - 1];
      await Promise.all([...[shared, roomy].map(({ offer }) => offer()), version && rollout.replaceOne(version)]);
    }
    await rollout.end();

    for (const surface of EXHAUSTED) {
      const limit = limitsOf(surface, 1);
      const expected = shared.keys.reduce((sum, { offered }) => sum + Math.min(offered[surface], limit.key), 0);
      const admitted = shared.keys.reduce((sum, each) => sum + each.admitted[surface], 0);
      expect(admitted, `${surface}: the account`).to.equal(Math.min(expected, limit.account));
      expect(expected, `${surface}: what the keys would be admitted`).to.be.above(limit.account);
      for (const each of shared.keys) expect(each.admitted[surface], surface).to.be.at.most(limit.key);
      for (const each of roomy.keys)
        expect(each.admitted[surface], `${surface}: a key of an account with room`).to.equal(
          Math.min(each.offered[surface], limit.key),
        );
    }
    expect(rollout.exitCodes).to.deep.equal(rollout.exitCodes.map(() => 0));
    for (const version of [versions.earlier, versions.later]) {
      const verdicts = rollout.logOf(version).flatMap(({ verdict }) => verdict ?? []);
      const counts = ["admitted", "account_exhausted", "key_exhausted"].map(
        (verdict) => verdicts.filter((each) => each === verdict).length,
      );
      process.stdout.write(`      ${version.name}: ${counts[0]} admitted, ${counts[1]} and ${counts[2]} refused\n`);
      expect(Math.min(...counts), `decisions of each kind by ${version.name}`).to.be.above(0);
    }
  });

  /** Creates an account with a key for each portion. `offer` sends one portion of each key's limit on every surface. */
  async function account({ operators }: Fleet, portions: number[]) {
    const { id } = await operators.accounts.createAccount({ name: "Test" });
    const none = () => Object.fromEntries(SURFACES.map((surface) => [surface, 0])) as Record<Surface, number>;
    const keys = await Promise.all(
      portions.map(async (portion) => {
        const { key } = await operators.accounts.createKey({ accountId: id, name: "test" });
        return { key, portion, offered: none(), admitted: none() };
      }),
    );
    const { key } = keys[0]!;
    const made = await load.send({ method: "POST", path: "/candidates", key, body: "{}" });
    const { id: candidate } = JSON.parse(made.body) as { id: string };
    keys[0]!.offered.create++;
    keys[0]!.admitted.create++;
    const send = async (each: (typeof keys)[number], surface: Surface) => {
      for (let left = Math.max(1, Math.floor(limitsOf(surface, 1).key * each.portion)); left > 0; left--) {
        each.offered[surface]++;
        const { status, body } = await load.send(REQUESTS[surface](each.key, candidate));
        if (status < 300) each.admitted[surface]++;
        else expect(status, body).to.equal(429);
      }
    };
    const offer = () => Promise.all(keys.flatMap((each) => EXHAUSTED.map((surface) => send(each, surface))));
    return { keys, offer };
  }
});
