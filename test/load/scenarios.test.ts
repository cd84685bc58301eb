import { expect } from "chai";
import { accountWithKeys } from "../support/processes.ts";
import type { Service } from "../support/service.ts";
import { useService } from "../support/use-service.ts";
import { type Lie, startLiar } from "./liar.ts";
import { byK6, byNode, haveK6, type LoadRun, type Way } from "./support.ts";

const WAYS = [byK6, byNode];
const MINUTES_MS = 180_000;

describe("the load kit", function () {
  this.timeout(MINUTES_MS);
  const service = useService();

  for (const way of WAYS) {
    describe(`by ${way.name}`, () => {
      skipWithoutIts(way);

      it("proves smoke", async () => {
        expectProof(await play(way, "smoke", service, await keysOf(service, 1)));
      });

      it("proves exactness", async () => {
        // Both ways run the same code, so all surfaces need to be tried by one of them only.
        const settings: Record<string, string> = way === byNode ? {} : { SURFACES: "create,settings" };
        const run = await play(way, "exactness", service, await keysOf(service, 3), settings);
        expect(run.output).to.match(
          /exact +create, account: 200 admitted of 3\d\d offered, room for 200, expected 200/,
        );
        expectProof(run);
      });

      it("proves soak, with keys of two accounts", async () => {
        const keys = [...(await keysOf(service, 2)), ...(await keysOf(service, 1))];
        const run = await play(way, "soak", service, keys, { DURATION: "3" });
        expect(run.output).to.match(/holds +\d+ requests in \d+ s: \d+ admitted, 0 refused, 0 failed/);
        expectProof(run);
      });

      it("proves backfill, and says how to issue the grant that it needs", async () => {
        const { id, keys } = await accountWithKeys(service, 1);
        const [{ id: keyId, client }] = keys as [(typeof keys)[number]];
        const without = await play(way, "backfill", service, [client.key]);
        expect(without.output).to.include(`grants create --key ${keyId} --surface create`);
        expect(without.code).to.equal(way.unfit);
        await service.operators.grants.create({
          keyId,
          surface: "create",
          amount: 20,
          expiresInHours: 1,
          approvedBy: "Ann",
          reason: `the load test of ${id}`,
        });
        const run = await play(way, "backfill", service, [client.key]);
        expect(run.output).to.match(
          /create: 120 admitted of 1\d\d offered, room for 100 and a grant of 20, expected 120/,
        );
        expectProof(run);
      });

      it("fails exactness against a service that admits one too many", async () => {
        const { code, output } = await playWithLiar(way, "one too many", 3);
        expect(output).to.match(/not exact +settings, account: 41 admitted of/);
        expect(code, output).to.equal(way.notProved);
      });
    });
  }

  // Both ways run the same code. The rest is tested by one of them.

  it("fails exactness against a service that admits one too few", async () => {
    const { code, output } = await playWithLiar(byNode, "one too few", 3);
    expect(output).to.match(/not exact +settings, account: 39 admitted of/);
    expect(code, output).to.equal(byNode.notProved);
  });

  it("does not claim exactness if the limiter was unavailable once", async () => {
    const { code, output } = await playWithLiar(byNode, "503 once", 1);
    expect(output).to.match(/not proven +settings, key 1: 19 admitted of .* 1 may or may not have counted/);
    expect(output).not.to.include("not exact");
    expect(code, output).to.equal(byNode.notProved);
  });

  it("proves exactness with one key, whose own limit refuses", async () => {
    const run = await play(byNode, "exactness", service, await keysOf(service, 1), { SURFACES: "settings" });
    expect(run.output).to.match(/exact +settings, key 1: 20 admitted of 30 offered, room for 20, expected 20/);
    expectProof(run);
  });

  it("holds a used account to what remains", async () => {
    const { keys } = await accountWithKeys(service, 3);
    for (const { client } of keys.slice(0, 2)) await client.patch("/settings/assistant", {});
    const given = keys.map(({ client }) => client.key);
    const run = await play(byNode, "exactness", service, given, { SURFACES: "settings" });
    expect(run.output).to.include("settings: 2 already used in this window");
    expect(run.output).to.match(/settings, account: 38 admitted of 90 offered, room for 38, expected 38/);
    expectProof(run);
  });

  it("fails soak if p99 is above the one demanded", async () => {
    const settings = { DURATION: "1", P99_MS: "1", SURFACES: "pack" };
    const { code, output } = await play(byNode, "soak", service, await keysOf(service, 1), settings);
    expect(output).to.match(/failed +p99 \d+\.\d ms, demanded 1 ms/);
    expect(code).to.equal(byNode.notProved);
  });

  it("does not call soak proved if the limits were used up before", async () => {
    const { keys } = await accountWithKeys(service, 1);
    const { client } = keys[0]!;
    while ((await client.patch("/settings/assistant", {})).status === 200);
    const settings = { DURATION: "1", SURFACES: "settings" };
    const { code, output } = await play(byNode, "soak", service, [client.key], settings);
    expect(output).to.match(/not proven +\d+ requests in \d+ s: 0 admitted, \d+ refused/);
    expect(code).to.equal(byNode.notProved);
  });

  async function playWithLiar(way: Way, lie: Lie, keys: number): Promise<LoadRun> {
    const liar = await startLiar(service.url, lie);
    try {
      return await play(way, "exactness", liar, await keysOf(service, keys), { SURFACES: "settings" });
    } finally {
      liar.close();
    }
  }
});

describe("the load kit, at the window's edge", function () {
  this.timeout(MINUTES_MS);
  const service = useService({ LIMIT_WINDOW_SECONDS: 20 });
  /** Both ways run at the same time, because each waits for the edge. */
  const runs = new Map<Way, Promise<LoadRun>>();

  before(async () => {
    // The smallest limits: even a busy machine reaches them in the seconds before the edge.
    const settings = { SURFACES: "start,pack,settings" };
    for (const way of WAYS.filter((way) => way === byNode || haveK6()))
      runs.set(way, play(way, "stampede", service, await keysOf(service, 3), settings));
  });

  for (const way of WAYS) {
    describe(`by ${way.name}`, () => {
      skipWithoutIts(way);

      it("proves stampede: exact in both windows", async () => {
        const run = await runs.get(way)!;
        expect(run.output).to.match(/exact +window 1, start, account: 20 admitted/);
        expect(run.output).to.match(/exact +window 2, start, account: 20 admitted/);
        expectProof(run);
      });
    });
  }
});

function skipWithoutIts(way: Way): void {
  before(function () {
    if (way === byK6 && !haveK6()) this.skip();
  });
}

function expectProof({ code, output }: LoadRun): void {
  expect(output).to.match(/: proved$/m);
  expect(code, output).to.equal(0);
}

async function keysOf(service: Service, count: number): Promise<string[]> {
  return (await accountWithKeys(service, count)).keys.map(({ client }) => client.key);
}

function play(
  way: Way,
  scenario: string,
  { url }: { url: string },
  keys: readonly string[],
  settings: Record<string, string> = {},
): Promise<LoadRun> {
  return way.run(scenario, { BASE_URL: url, KEYS: keys.join(","), ...settings });
}
