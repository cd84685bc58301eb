import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { expect } from "chai";
import { makeKey } from "../../src/accounts/key.ts";
import { Client, expectProblem } from "../support/client.ts";
import { scrape } from "../support/metrics.ts";
import { useProcesses } from "../support/use-service.ts";

const CONNECTIONS = 300;

/** All clients share one address, as they do behind a balancer whose X-Forwarded-For is not believed. */
describe("a new key whose neighbours send wrong keys from the same address", function () {
  this.timeout(120_000);
  const service = useProcesses();
  const guess = () => new Client(service.url, makeKey(randomBytes)).get("/limits");
  const finds = async () =>
    (await scrape(service)).value("db_client_operation_duration_seconds_count", {
      db_system_name: "mongodb",
      db_operation_name: "find",
    }) ?? 0;

  it("is served the first time it is used, after 200 wrong keys in a minute", async () => {
    const responses = await Promise.all(Array.from({ length: 200 }, guess));
    expect(responses.filter(({ status }) => status === 401)).to.have.length(20);
    expect(responses.filter(({ status }) => status === 429)).to.have.length(180);
    for (let n = 0; n < 3; n++) {
      expectProblem(await guess(), 429, "rate_limited");
      const { client } = await service.account();
      expect((await client.get("/limits")).status).to.equal(200);
    }
  });

  it("is served during a flood of wrong keys, and the store is asked about ten times a second", async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => service.account()));
    const keys = Array.from({ length: 2_000 }, () => makeKey(randomBytes));
    const flood = startFlood(service.url, keys);
    await flood.under.way;
    const before = { finds: await finds(), at: performance.now() };
    const tookMs: number[] = [];
    for (const { client } of accounts) {
      const started = performance.now();
      expect((await client.get("/limits")).status).to.equal(200);
      tookMs.push(performance.now() - started);
    }
    const seconds = (performance.now() - before.at) / 1000;
    const asked = (await finds()) - before.finds;
    const answered = await flood.stop();
    // Each new key is asked for in a batch and then looked up, with the account's record, as one operation. The sweeps
    // look for their work too, but rarely.
    expect(asked - accounts.length).to.be.at.most(15 * seconds + 5);
    expect(answered.get(401) ?? 0).to.be.at.most(20);
    expect([...answered.keys()].filter((status) => status !== 401)).to.deep.equal([429]);
    process.stdout.write(
      `      ${answered.get(429)} wrong keys, ${asked} finds in ${seconds.toFixed(1)} s; slowest new key ${Math.round(Math.max(...tookMs))} ms\n`,
    );
  });
});

/** Sends wrong keys without pause on all connections, until stopped. */
function startFlood(url: string, keys: readonly string[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const answered = new Map<number, number>();
  let sent = 0;
  let stopped = false;
  let began: () => void = () => undefined;
  const under = { way: new Promise<void>((resolve) => (began = resolve)) };
  const send = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${keys[sent++ % keys.length]}` };
      const sending = request(`${url}/limits`, { agent, headers }, (response) => {
        const { statusCode = 0 } = response;
        answered.set(statusCode, (answered.get(statusCode) ?? 0) + 1);
        if (sent > 1_000) began();
        response.resume().once("end", resolve);
      });
      sending.once("error", reject).end();
    });
  const lanes = Array.from({ length: CONNECTIONS }, async () => {
    while (!stopped) await send();
  });
  return {
    under,
    async stop() {
      stopped = true;
      await Promise.all(lanes);
      agent.destroy();
      return answered;
    },
  };
}
