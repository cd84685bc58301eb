import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { limitsOf } from "../../src/limiter/surfaces.ts";
import { type Fleet, startFleet } from "../faults/replicas/fleet.ts";
import { clearOfTheEdge } from "../faults/replicas/edge.ts";
import { Lanes } from "../faults/replicas/lanes.ts";
import { LoadClient, type LoadRequest } from "../support/load.ts";
import { accountWithKeys } from "../support/processes.ts";
import { podTimes } from "./deployment.ts";
import { HaProxy } from "./haproxy.ts";
import { Pods } from "./pods.ts";

const PODS = 3;
/** Small enough that the limits are exhausted in the middle of a restart. */
const SCALE = 3;
/** Each lane pauses this long after a request, so that the restarted processes get CPU time. */
const PAUSE_MS = 150;
const ROOM_MS = 180_000;

describe("three replicas behind HAProxy, with the probes and delays of the Deployment", function () {
  this.timeout(ROOM_MS + 180_000);
  const times = podTimes();
  let fleet: Fleet;
  let proxy: HaProxy;
  let load: LoadClient;
  let pods: Pods;

  before(function () {
    if (process.env.HAPROXY === undefined) this.skip(); // test/upgrade/set-up.ts has said so
    expect({ maxUnavailable: times.maxUnavailable, maxSurge: times.maxSurge }).to.deep.equal({
      maxUnavailable: 0,
      maxSurge: 1,
    });
  });
  async function start(keeps: boolean): Promise<void> {
    await clearOfTheEdge(ROOM_MS);
    fleet = await startFleet(PODS, { LIMIT_SCALE: SCALE });
    proxy = await HaProxy.start(process.env.HAPROXY ?? "", times, keeps);
    load = new LoadClient(proxy.url, 32);
    pods = new Pods(fleet, proxy, times);
    await pods.admitAll();
  }
  afterEach(async () => {
    load?.close();
    await proxy?.stop();
    await fleet?.stop();
  });

  // Without preStop, HAProxy may send a request on a kept connection just when the replica closes it. HTTP/1.1 cannot
  // prevent that, so this HAProxy keeps none.
  for (const [end, count, keeps] of [
    ["as Kubernetes ends it", PODS, true],
    ["with SIGTERM at once", 2, false],
  ] as const) {
    it(`fail no request and keep the limits exact while ${count} are replaced, each ended ${end}`, async () => {
      await start(keeps);
      const busy = await busyAccount();
      const lanes = new Lanes(8, async (lane) => {
        await busy.create(lane < 4 ? 0 : lane % 3);
        await setTimeout(PAUSE_MS);
      });
      const uploads = new Lanes(2, async () => {
        await busy.upload();
        await setTimeout(PAUSE_MS);
      });
      for (let replaced = 0; replaced < count; replaced++) await pods.replaceOne(end);
      await pods.settled();
      await Promise.all([lanes.end(), uploads.end()]);
      const duringRestart = busy.keys.reduce((sum, { offered }) => sum + offered, 0);
      await busy.exhaust();

      const counts = await proxy.counts();
      process.stdout.write(
        `      ${duringRestart} creates and ${busy.uploads()} uploads during the restart; HAProxy tried another replica ` +
          `for ${counts.refused} refused connections\n`,
      );
      expect(busy.failures).to.deep.equal([]);
      expect({ unanswered: counts.unanswered, failed: counts.failed }).to.deep.equal({ unanswered: 0, failed: 0 });
      if (end === "as Kubernetes ends it") expect(counts.refused, "refused connections").to.equal(0);
      expect(pods.ends).to.deep.equal(Array.from({ length: count }, () => ({ code: 0, late: false })));

      const limit = limitsOf("create", SCALE);
      const [greedy] = busy.keys;
      const expected = busy.keys.reduce((sum, { offered }) => sum + Math.min(offered, limit.key), 0);
      expect(greedy!.offered, "requests of the first key").to.be.above(limit.key);
      expect(expected, "requests of the account").to.be.above(limit.account);
      const admitted = busy.keys.map((key) => key.admitted);
      expect(admitted.reduce((sum, each) => sum + each, 0)).to.equal(limit.account);
      for (const each of admitted) expect(each).to.be.at.most(limit.key);
    });
  }

  /** An account with three keys that creates candidates and uploads a document again and again. */
  async function busyAccount() {
    const made = await accountWithKeys({ operators: fleet.operators, url: proxy.url }, 3);
    const writer = await accountWithKeys({ operators: fleet.operators, url: proxy.url }, 1);
    const keys = made.keys.map(({ client }) => ({ key: client.key, offered: 0, admitted: 0 }));
    const failures: string[] = [];
    const { client } = writer.keys[0]!;
    const { body: candidate } = await client.post("/candidates", { documents: ["CV"] });
    const content = `/candidates/${candidate.id}/documents/${candidate.documents[0]?.id}/content`;
    const bytes = "x".repeat(300_000);
    let uploads = 0;
    /** @returns whether it was admitted. */
    const send = async (request: LoadRequest): Promise<boolean> => {
      const response = await load.send(request).catch((error: Error) => error);
      const status = response instanceof Error ? 0 : response.status;
      if (status >= 200 && status < 300) return true;
      if (status !== 429)
        failures.push(
          response instanceof Error ? response.message : `${response.status} ${response.body.slice(0, 200)}`,
        );
      return false;
    };
    const create = async (index: number): Promise<boolean> => {
      const key = keys[index]!;
      key.offered++;
      const admitted = await send({ method: "POST", path: "/candidates", key: key.key, body: "{}" });
      if (admitted) key.admitted++;
      return admitted;
    };
    return {
      keys,
      failures,
      create,
      uploads: () => uploads,
      async upload() {
        const headers = { "Content-Type": "text/plain" };
        if (await send({ method: "PUT", path: content, key: client.key, body: bytes, headers })) uploads++;
      },
      /** Goes on until each key has been refused, however slow the machine is. The first key reaches its own limit. */
      async exhaust() {
        for (const index of keys.keys()) while (await create(index));
      },
    };
  }
});
