import { expect } from "chai";
import { accountWithKeys, type Processes } from "../support/processes.ts";
import { useProcesses } from "../support/use-service.ts";
import { haveK6, k6Runner, type LoadRun, nodeRunner, type Runner } from "./support.ts";
import { startLiar } from "./liar.ts";

const RUNNERS = [k6Runner, nodeRunner];
const GRANT = 150;

describe("the load kit, against four replicas", function () {
  this.timeout(180_000);
  const service = useProcesses({ REPLICAS: 4 });

  for (const runner of RUNNERS) {
    describe(runner.name, () => {
      skipWithoutIts(runner);

      for (const scenario of ["smoke", "exactness"]) {
        it(`proves ${scenario}`, async () => {
          const { code, output } = await play(runner, scenario, service, await keysOf(service, 3));
          expect(output).to.match(/^proved$|: proved$/m);
          expect(code, output).to.equal(0);
        });
      }

      it("proves exactness with one key, whose own limit refuses", async () => {
        const { code, output } = await play(runner, "exactness", service, await keysOf(service, 1));
        expect(output).to.match(/exact +create, key 1: 100 admitted of 11\d offered, room for 100, expected 100/);
        expect(code, output).to.equal(0);
      });

      it("holds a used account to what remains", async () => {
        const { keys } = await accountWithKeys(service, 3);
        for (const { client } of keys.slice(0, 2)) await client.get("/candidates");
        const list = { SURFACES: "list" };
        const { code, output } = await play(
          runner,
          "exactness",
          service,
          keys.map(({ client }) => client.key),
          list,
        );
        expect(output).to.include("list: 2 already used in this window");
        expect(output).to.match(/list, account: 238 admitted of \d+ offered, room for 238, expected 238/);
        expect(code, output).to.equal(0);
      });

      it("proves soak, with keys of two accounts", async () => {
        const keys = [...(await keysOf(service, 2)), ...(await keysOf(service, 1))];
        const { code, output } = await play(runner, "soak", service, keys, { DURATION: "15" });
        expect(output).to.match(/holds +\d+ requests in \d+ s: \d+ admitted, 0 refused, 0 failed/);
        expect(code, output).to.equal(0);
      });

      it("fails soak if p99 is above the one demanded", async () => {
        const env = { DURATION: "3", P99_MS: "0.001" };
        const { code } = await play(runner, "soak", service, await keysOf(service, 1), env);
        expect(code).to.equal(runner.notProved);
      });

      it("does not call soak proved if the limits were used up before", async () => {
        const { keys } = await accountWithKeys(service, 1);
        const { client } = keys[0]!;
        while ((await client.patch("/settings/assistant", {})).status === 200);
        const env = { DURATION: "3", SURFACES: "settings" };
        const { code, output } = await play(runner, "soak", service, [client.key], env);
        expect(output).to.match(/not proven +\d+ requests in \d+ s: 0 admitted, \d+ refused/);
        expect(code).to.equal(runner.notProved);
      });

      it("proves backfill, and says how to issue the grant that it needs", async () => {
        const { id, keys } = await accountWithKeys(service, 1);
        const [{ id: keyId, client }] = keys as [(typeof keys)[number]];
        const without = await play(runner, "backfill", service, [client.key]);
        expect(without.output).to.include(`grants create --key ${keyId} --surface create`);
        expect(without.code).to.be.greaterThan(0);
        await service.operators.grants.create({
          keyId,
          surface: "create",
          amount: GRANT,
          expiresInHours: 1,
          approvedBy: "Ann",
          reason: `the load test of ${id}`,
        });
        const { code, output } = await play(runner, "backfill", service, [client.key]);
        expect(output).to.match(/create: 250 admitted of \d+ offered, room for 100 and a grant of 150, expected 250/);
        expect(code, output).to.equal(0);
      });

      for (const lie of ["one too many", "one too few"] as const) {
        it(`fails exactness against a service that admits ${lie}`, async () => {
          const liar = await startLiar(service.url, lie);
          try {
            const keys = await keysOf(service, 3);
            const { code, output } = await play(runner, "exactness", liar, keys, { SURFACES: "list" });
            const count = lie === "one too many" ? 241 : 239;
            expect(output).to.match(new RegExp(`not exact +list, account: ${count} admitted of`));
            expect(code, output).to.equal(runner.notProved);
          } finally {
            liar.close();
          }
        });
      }

      it("does not claim exactness if the limiter was unavailable once", async () => {
        const liar = await startLiar(service.url, "503 once");
        try {
          const keys = await keysOf(service, 1);
          const { code, output } = await play(runner, "exactness", liar, keys, { SURFACES: "list" });
          expect(output).to.match(/not proven +list, key 1: 119 admitted of .* 1 may or may not have counted/);
          expect(output).not.to.include("not exact");
          expect(code, output).to.equal(runner.notProved);
        } finally {
          liar.close();
        }
      });

      it("refuses a window that is not the expected one", async () => {
        const { code, output } = await play(runner, "exactness", service, await keysOf(service, 1), {
          WINDOW_SECONDS: "3600",
        });
        expect(output).to.include("The deployment's window is 86400 seconds, not 3600.");
        expect(code).to.be.greaterThan(0);
      });
    });
  }
});

describe("the load kit, at the window's edge of four replicas", function () {
  this.timeout(180_000);
  const service = useProcesses({ REPLICAS: 4, LIMIT_WINDOW_SECONDS: 30 });

  for (const runner of RUNNERS) {
    describe(runner.name, () => {
      skipWithoutIts(runner);

      it("proves stampede: exact in both windows", async () => {
        // The smallest limits: even a busy machine reaches them in the seconds before the edge.
        const env = { SURFACES: "start,pack,settings" };
        const { code, output } = await play(runner, "stampede", service, await keysOf(service, 3), env);
        expect(output).to.match(/exact +window 1, start, account: 20 admitted/);
        expect(output).to.match(/exact +window 2, start, account: 20 admitted/);
        expect(code, output).to.equal(0);
      });
    });
  }
});

function skipWithoutIts(runner: Runner): void {
  before(function () {
    if (runner === k6Runner && !haveK6()) this.skip();
  });
}

async function keysOf(service: Processes, count: number): Promise<string[]> {
  return (await accountWithKeys(service, count)).keys.map(({ client }) => client.key);
}

function play(
  runner: Runner,
  scenario: string,
  { url }: { url: string },
  keys: readonly string[],
  env: Record<string, string> = {},
): Promise<LoadRun> {
  return runner.start(scenario, { BASE_URL: url, KEYS: keys.join(","), ...env }).ended;
}
