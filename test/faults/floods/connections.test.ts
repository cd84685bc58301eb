import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { accountWithKeys } from "../../support/processes.ts";
import { useProcesses } from "../../support/use-service.ts";
import { record } from "../report.ts";
import { Bystander } from "./bystander.ts";

/** How long a connection may take to bring a request's headers, as src/process/replica.ts has it, and how often that is looked at. */
const HEADERS_MS = 10_000 + 1_000;
/** What a busy test machine may add. */
const LATE_MS = 5_000;
/** Node's own share of a connection is about 12 kB; a burst of garbage is not collected at once. */
const KB_A_CONNECTION = 40;

interface Crowd {
  counts(): Promise<{ open: number; closed: number; answered: number }>;
  end(): Promise<void>;
}

describe("a flood of connections", function () {
  this.timeout(120_000);
  const service = useProcesses({ REPLICAS: 2, LIMIT_SCALE: 1_000, LIMITER_TIMEOUT_MS: 5_000 });
  let key: string;
  let bystander: Bystander;
  beforeEach(async () => {
    key = (await accountWithKeys(service, 1)).keys[0]!.client.key;
    const pids = new Set(service.log.filter(({ msg }) => msg === "serving").map(({ pid }) => pid));
    bystander = new Bystander(service.url, key, () => [...pids]);
  });

  it("of 500 that send a header byte now and then: all are cut off in time, and others are served", async () => {
    const crowd = await open({ count: 500, kind: "slow", processes: 1 });
    const began = performance.now();
    let { closed } = await crowd.counts();
    while (closed < 500 && performance.now() - began < HEADERS_MS + LATE_MS) {
      await setTimeout(200);
      ({ closed } = await crowd.counts());
    }
    const tookMs = Math.round(performance.now() - began);
    await crowd.end();
    await expectServed(
      "slow-loris: 500 connections that send a header byte now and then",
      500,
      `${closed} cut off within ${tookMs} ms`,
    );
    expect(closed).to.equal(500);
  });

  it("of 10,000 that have asked something and stay: others are served, and memory is bounded", async () => {
    const crowd = await open({ count: 10_000, kind: "used", processes: 2 });
    const { open: opened, answered, closed } = await crowd.counts();
    await setTimeout(3_000);
    await expectServed("10,000 kept-alive connections", 10_000, `${opened} open, ${answered} answered`);
    await crowd.end();
    expect({ opened, answered, closed }).to.deep.equal({ opened: 10_000, answered: 10_000, closed: 0 });
  });

  /** The bystander's side of it: what is common to every flood. */
  async function expectServed(fault: string, connections: number, note: string): Promise<void> {
    const { beforeMb, mostMb, grownMb } = await bystander.end();
    const { tally } = bystander;
    record({
      fault,
      held: "others served without a failure, memory bounded",
      ...tally.counts(),
      lost: 0,
      note: `${note}; two replicas: ${beforeMb} MB before, ${mostMb} MB at the most; numbers are the bystander's`,
    });
    expect(tally.failures).to.deep.equal([]);
    expect(tally.admitted).to.equal(tally.offered).and.above(20);
    expect(grownMb).to.be.below(50 + (connections * KB_A_CONNECTION) / 1024);
  }

  /** Opens connections from processes of their own, and waits until all are open and, where they ask, answered. */
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
  const answer = once(child, "message");
  child.send("counts");
  const [counts] = (await answer) as [{ open: number; closed: number; answered: number }];
  return counts;
}
