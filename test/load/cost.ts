import Table from "cli-table3";
import { expect } from "chai";
import { Redis } from "ioredis";
import { SURFACES } from "../../src/limiter/surfaces.ts";
import { LoadClient } from "../support/load.ts";
import { scrape } from "../support/metrics.ts";
import { accountWithKeys } from "../support/processes.ts";
import { REQUESTS } from "../support/requests.ts";
import { useRedisServer } from "../support/servers.ts";
import { useProcesses } from "../support/use-service.ts";

const CONNECTIONS = 32;
const REQUESTS_EACH: Partial<Record<string, number>> = { pack: 100 };
const REQUESTS_BY_DEFAULT = 1_500;
const ACCOUNTS = 100;

/** Prints the sizing figures of the operators' guide. They are CPU times, so other work hardly changes them. */
describe("the cost", function () {
  this.timeout(300_000);
  const redis = useRedisServer();
  const service = useProcesses(() => ({ REDIS_URL: redis.url, LIMIT_SCALE: 1_000 }));

  it("of a request, on each surface", async () => {
    const account = await accountWithKeys(service, 1);
    const { client } = account.keys[0]!;
    const { body } = await client.post("/candidates", { name: "Ada Lovelace", documents: ["Passport"] });
    const load = new LoadClient(service.url, CONNECTIONS);
    const table = new Table({
      style: { head: [], border: [] },
      head: ["surface", "server, µs of CPU", "Redis, µs of CPU", "requests"],
    });
    for (const surface of SURFACES) {
      const request = REQUESTS[surface](client.key, body.id);
      const count = REQUESTS_EACH[surface] ?? REQUESTS_BY_DEFAULT;
      const send = (times: number) => Promise.all(Array.from({ length: times }, () => load.send(request)));
      await send(count); // compiles the code that the surface needs
      const before = await cpu();
      const answers = await send(count);
      const after = await cpu();
      for (const { status } of answers) expect(status).to.be.oneOf([200, 201, 409]); // 409: it is started already
      const each = (used: number) => Math.round((used * 1e6) / count);
      table.push([surface, each(after.server - before.server), each(after.redis - before.redis), count]);
    }
    load.close();
    print(table.toString());
  });

  it("of an account in Redis's memory, with two keys that use all surfaces", async () => {
    const used = async () => Number(await info("memory", "used_memory"));
    const accounts = [];
    for (let made = 0; made < ACCOUNTS; made++) accounts.push(await accountWithKeys(service, 2));
    const before = await used();
    for (const { keys } of accounts) {
      const { body } = await keys[0]!.client.post("/candidates");
      for (const { client } of keys)
        for (const surface of SURFACES) {
          const { method, path, body: json } = REQUESTS[surface](client.key, body.id);
          await client.request(method, path, json === undefined ? {} : { json: JSON.parse(json) });
        }
    }
    const bytes = Math.round(((await used()) - before) / ACCOUNTS);
    expect(bytes).to.be.within(100, 20_000);
    const resident = (await scrape(service)).value("process_resident_memory_bytes") ?? 0;
    print(`Redis: ${bytes} bytes an account. The process: ${Math.round(resident / 1e6)} MB.`);
  });

  async function cpu(): Promise<{ server: number; redis: number }> {
    const server = (await scrape(service)).value("process_cpu_seconds_total") ?? NaN;
    const [user, system] = [await info("cpu", "used_cpu_user"), await info("cpu", "used_cpu_sys")];
    return { server, redis: Number(user) + Number(system) };
  }

  async function info(section: string, field: string): Promise<string> {
    const client = new Redis(redis.url);
    try {
      return new RegExp(`^${field}:(\\S+)`, "m").exec(await client.info(section))?.[1] ?? "";
    } finally {
      client.disconnect();
    }
  }
});

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
