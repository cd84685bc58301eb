import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { accountWithKeys } from "../../support/processes.ts";
import { useProcesses } from "../../support/use-service.ts";
import { Bystander } from "./bystander.ts";

/** Time that a connection has to send a request's headers (src/process/replica.ts), plus the interval of that check. */
const HEADERS_MS = 10_000 + 1_000;
/** Tolerance for a busy test machine. */
const LATE_MS = 5_000;
/** Maximum memory per connection. Node needs about 12 kB; the rest allows for garbage that is not collected yet. */
const KB_A_CONNECTION = 40;

interface Crowd {
  counts(): Promise<{ open: number; closed: number; answered: number }>;
  end(): Promise<void>;
}

describe("the service under a flood of connections", function () {
  this.timeout(120_000);
  const service = useProcesses({ REPLICAS: 2, LIMIT_SCALE: 1_000, LIMITER_TIMEOUT_MS: 5_000 });
  let key: string;
  let bystander: Bystander;
  beforeEach(async () => {
    const { client } = (await accountWithKeys(service, 1)).keys[0]!;
    ({ key } = client);
    // Warms the processes up: what their first requests load is not what the flood costs.
    for (let n = 0; n < 100; n++) await (n % 2 === 0 ? client.get("/candidates?limit=1") : client.post("/candidates"));
    const pids = new Set(service.log.filter(({ msg }) => msg === "serving").map(({ pid }) => pid));
    bystander = new Bystander(service.url, key, () => [...pids]);
  });

  it("closes 500 connections that send their headers too slowly, and serves other clients", async () => {
    const crowd = await open({ count: 500, kind: "slow", processes: 1 });
    const began = performance.now();
    let { closed } = await crowd.counts();
    while (closed < 500 && performance.now() - began < HEADERS_MS + LATE_MS) {
      await setTimeout(200);
      ({ closed } = await crowd.counts());
    }
    await crowd.end();
    await expectServed(500);
    expect(closed).to.equal(500);
  });

  it("keeps 10,000 idle connections open after a request each, and serves other clients in bounded memory", async () => {
    const crowd = await open({ count: 10_000, kind: "used", processes: 2 });
    const { open: opened, answered, closed } = await crowd.counts();
    await setTimeout(3_000);
    await expectServed(10_000);
    await crowd.end();
    expect({ opened, answered, closed }).to.deep.equal({ opened: 10_000, answered: 10_000, closed: 0 });
  });

  /** Expects that the bystander was served and memory stayed bounded. */
  async function expectServed(connections: number): Promise<void> {
    const grownMb = await bystander.end();
    const { tally } = bystander;
    expect(tally.failures).to.deep.equal([]);
    expect(tally.admitted).to.equal(tally.offered).and.above(20);
    expect(grownMb).to.be.below(50 + (connections * KB_A_CONNECTION) / 1024);
  }

  /** Opens connections from separate processes, and waits until all are open and, for kind "used", answered once. */
  async function open({
    count,
    kind,
    processes,
  }: {
    count: number;
    kind: "slow" | "used";
    processes: number;
  }): Promise<Crowd> {
    const children = Array.from({ length: processes }, () =>
      spawn(process.execPath, ["test/faults/floods/idler.mjs"], {
        env: {
          ...process.env,
          PORT: new URL(service.url).port,
          COUNT: String(count / processes),
          KIND: kind,
          KEY: key,
        },
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      }),
    );
    const counts = async () => {
      const each = await Promise.all(children.map(ask));
      const sum = (name: keyof (typeof each)[0]) => each.reduce((total, one) => total + one[name], 0);
      return { open: sum("open"), closed: sum("closed"), answered: sum("answered") };
    };
    await Promise.all(children.map((child) => once(child, "message")));
    for (const deadline = performance.now() + 60_000; performance.now() < deadline; await setTimeout(100)) {
      const now = await counts();
      if (now.open === count && (kind === "slow" || now.answered === count)) break;
    }
    return {
      counts,
      async end() {
        await Promise.all(children.filter((child) => child.kill("SIGKILL")).map((child) => once(child, "exit")));
      },
    };
  }
});

async function ask(child: ChildProcess): Promise<{ open: number; closed: number; answered: number }> {
  const response = once(child, "message");
  child.send("counts");
  const [counts] = (await response) as [{ open: number; closed: number; answered: number }];
  return counts;
}
