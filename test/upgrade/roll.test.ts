import { expect } from "chai";
import { limitsOf, type Surface, SURFACES } from "../../src/limiter/surfaces.ts";
import type { Limits } from "../../src/limits/schema.ts";
import { everyCandidate, Mirror, missedBy } from "../faults/replicas/feed.ts";
import { type Fleet, startFleet } from "../faults/replicas/fleet.ts";
import { clearOfTheEdge } from "../faults/replicas/edge.ts";
import { type LoadAnswer, LoadClient } from "../support/load.ts";
import type { Settings } from "../support/processes.ts";
import { REQUESTS } from "../support/requests.ts";
import { newAccount } from "../support/service.ts";
import { known } from "./known.ts";
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
    await clearOfTheEdge(ROOM_MS);
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
    // Each version has counted the requests that it answered. Now the earlier one serves, and shows its own counts.
    const later = await fleet.operators.usage({ accountId: id, keyId });
    const earlier = JSON.parse((await load.send({ method: "GET", path: "/limits", key })).body) as Limits;
    for (const [index, { surface, key: counted, account }] of later.surfaces.entries()) {
      if (surface === "list") continue; // the mirror does not count its pages
      const before = earlier.surfaces[index]!;
      expect(before.surface).to.equal(surface);
      const used = { key: before.key.used + counted.used, account: before.account.used + account.used };
      const offered = writers.offered[surface] ?? 0;
      expect(used, surface).to.deep.equal({ key: offered, account: offered });
      if (offered > 0) expect(Math.min(before.key.used, counted.used), `${surface} of either version`).to.be.above(0);
    }
    expect(await missedBy(mirror, load, key)).to.deep.equal([]);
    const store = await everyCandidate(load, key);
    expect(different(mirror.candidates, store), "the mirror").to.deep.equal([]);
    expect(different(writers.acknowledged, store), "the last answers").to.deep.equal([]);

    await rollout.end();
    expect(rollout.exitCodes).to.deep.equal(rollout.exitCodes.map(() => 0));
    const [byEarlier, byLater] = answeredBy(rollout);
    const forth = writers.replays.filter(({ first, second }) => byEarlier.has(first) && byLater.has(second)).length;
    const back = writers.replays.filter(({ first, second }) => byLater.has(first) && byEarlier.has(second)).length;
    process.stdout.write(
      `      ${store.size} candidates; replays: ${writers.replays.length}, of which ${forth} by the later version, ` +
        `${back} by the earlier one, of what the other had done\n`,
    );
    expect(forth, "answers of the earlier version that the later one replayed").to.be.above(0);
    expect(back, "answers of the later version that the earlier one replayed").to.be.above(0);
  });

  /** Returns the ids of the requests that the earlier version has answered, and of those that the later one has. */
  function answeredBy(rollout: Rollout): [earlier: Set<string>, later: Set<string>] {
    const idsOf = (version: Version) =>
      new Set(rollout.logOf(version).flatMap(({ request_id: requestId }) => requestId ?? []));
    return [idsOf(versions.earlier), idsOf(versions.later)];
  }

  /** Returns the first of the candidates that differ, with both of what is known about it. */
  function different(candidates: Map<string, unknown>, store: Map<string, unknown>): unknown[] {
    const ids = [...new Set([...candidates.keys(), ...store.keys()])];
    const textOf = (candidate: unknown) => JSON.stringify(known(candidate ?? {}));
    const differs = (id: string) => textOf(candidates.get(id)) !== textOf(store.get(id));
    return ids
      .filter(differs)
      .map((id) => [candidates.get(id), store.get(id)])
      .slice(0, 1);
  }

  /**
   * In each stage of the roll, each key of an account sends this share of its limit. The keys of the first account exhaust
   * the account in the middle of the roll; the first key of the second one exhausts only itself.
   */
  const SHARED = [0.5, 0.5, 0.5];
  const ROOMY = [0.7, 0.08];

  it("admits exactly min(offered, limit) by each version, for an account and each of its keys", async () => {
    const { fleet, rollout } = await start({});
    const shared = await account(fleet, SHARED);
    const roomy = await account(fleet, ROOMY);
    const replacements: (Version | undefined)[] = [
      undefined, // before the first replacement, and once all processes have the later version
      ...Array<Version>(PROCESSES).fill(versions.later),
      undefined,
      ...Array<Version>(PROCESSES).fill(versions.earlier),
    ];
    for (const version of replacements)
      await Promise.all([...[shared, roomy].map(({ offer }) => offer()), version && rollout.replaceOne(version)]);
    await rollout.end();

    // The two versions have counts of their own. So an account gets its limit once from each.
    for (const answered of answeredBy(rollout)) {
      for (const surface of EXHAUSTED) {
        const limit = limitsOf(surface, 1);
        const of = ({ answers }: (typeof shared.keys)[number]) => {
          const own = answers.filter((answer) => answer.surface === surface && answered.has(answer.requestId));
          return { offered: own.length, admitted: own.filter(({ isAdmitted }) => isAdmitted).length };
        };
        const counts = shared.keys.map(of);
        const expected = counts.reduce((sum, { offered }) => sum + Math.min(offered, limit.key), 0);
        const admitted = counts.reduce((sum, each) => sum + each.admitted, 0);
        expect(admitted, `${surface}: the account`).to.equal(Math.min(expected, limit.account));
        expect(expected, `${surface}: what the keys would be admitted`).to.be.above(limit.account);
        for (const each of counts) expect(each.admitted, surface).to.be.at.most(limit.key);
        for (const each of roomy.keys.map(of))
          expect(each.admitted, `${surface}: a key of an account with room`).to.equal(
            Math.min(each.offered, limit.key),
          );
      }
    }
    const all = [...shared.keys, ...roomy.keys].flatMap(({ answers }) => answers);
    const [earlier, later] = answeredBy(rollout);
    const unknown = all.filter(({ requestId }) => !earlier.has(requestId) && !later.has(requestId));
    expect(unknown, "answers that neither version has logged").to.deep.equal([]);
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
    const keys = await Promise.all(
      portions.map(async (portion) => {
        const { key } = await operators.accounts.createKey({ accountId: id, name: "test" });
        const answers: { surface: Surface; requestId: string; isAdmitted: boolean }[] = [];
        return { key, portion, answers };
      }),
    );
    const note = ({ answers }: (typeof keys)[number], surface: Surface, { status, headers, body }: LoadAnswer) => {
      const isAdmitted = status < 300;
      if (!isAdmitted) expect(status, body).to.equal(429);
      answers.push({ surface, requestId: String(headers["x-request-id"]), isAdmitted });
    };
    const first = keys[0]!;
    const made = await load.send({ method: "POST", path: "/candidates", key: first.key, body: "{}" });
    const { id: candidate } = JSON.parse(made.body) as { id: string };
    note(first, "create", made);
    const send = async (each: (typeof keys)[number], surface: Surface) => {
      for (let left = Math.max(1, Math.floor(limitsOf(surface, 1).key * each.portion)); left > 0; left--)
        note(each, surface, await load.send(REQUESTS[surface](each.key, candidate)));
    };
    const offer = () => Promise.all(keys.flatMap((each) => EXHAUSTED.map((surface) => send(each, surface))));
    return { keys, offer };
  }
});
