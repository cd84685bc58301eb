import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { adminMain, serversOf } from "../admin/support.ts";
import { useService } from "../support/use-service.ts";
import { startSlow } from "./slow.ts";
import { type LoadRun, runLoad, startLoad } from "./support.ts";

/** Blocks the event loop of the generator for most of the time, and that of no program that it starts. */
const BUSY_LOOP =
  "delete process.env.NODE_OPTIONS; setInterval(() => { for (const end = Date.now() + 90; Date.now() < end;); }, 10).unref();";

describe("npm run load -- capacity", function () {
  this.timeout(180_000);
  const service = useService({ LIMIT_SCALE: 100 });
  let dir: string;
  let admin: string;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "onboarding-capacity-"));
    admin = `${process.execPath} ${await adminMain()}`;
  });
  after(() => rmSync(dir, { recursive: true, force: true }));
  beforeEach(async () => {
    const left = await made();
    expect(left.filter(({ status }) => status === "active")).to.deep.equal([]);
  });

  const env = () => ({ ...serversOf(service.config), ADMIN_ACTOR: "Ann" });

  /** Writes the file, and returns the command's arguments. */
  function commandFor(file: object): string[] {
    const path = join(dir, "capacity.json");
    writeFileSync(path, JSON.stringify({ url: service.url, admin, min_accounts: 1, step_seconds: 2, ...file }));
    return ["capacity", "--config", path];
  }

  const play = (file: object, more: Record<string, string> = {}): Promise<LoadRun> =>
    runLoad(commandFor(file), { ...env(), ...more });

  const made = async () =>
    (await service.operators.accounts.listAccounts()).data.filter(({ name }) => name.startsWith("Capacity test "));

  /** Expects that nothing is left of any run but suspended accounts. */
  async function expectCleaned(accounts: number): Promise<void> {
    const all = await made();
    expect(all.length).to.be.at.least(accounts);
    expect(all.map(({ status }) => status)).not.to.include("active");
    const candidates = service.operators.mongo.db.collection("candidates");
    const left = await candidates.find({ account: { $in: all.map(({ id }) => id) } }).toArray();
    expect(left.map(({ state }) => state as string)).to.deep.equal(left.map(() => "deleted"));
  }

  it("finds the rate at which a slow service breaches its p99, and deletes what it made", async () => {
    const slow = await startSlow(service.url, 20);
    try {
      const { code, output } = await play({ url: slow.url, p99_ms: 1000, start_rate: 5, growth: 6, step_seconds: 3 });
      expect(output).to.match(
        /bears (5|30)\.0 requests a second\. At (30|180)\.0, p99 was \d+\.\d ms, above 1000 ms\./,
      );
      expect(output).to.match(/^ +rate +sent +failed +refused +p50 ms +p99 ms +late ms +busy %$/m);
      expect(output).to.match(/█{40}▶ \d+ ms/);
      expect(output).to.match(/cleaned up: 1 accounts/);
      expect(code, output).to.equal(0);
    } finally {
      slow.close();
    }
    await expectCleaned(1);
  });

  it("finds the rate at which requests fail", async () => {
    const failing = await startSlow(service.url, 0, (path) => path.startsWith("/candidates?cursor="));
    try {
      const { code, output } = await play({ url: failing.url, p99_ms: 60_000, mix: { list: 1, reads: 0, writes: 0 } });
      expect(output).to.match(/bears .* requests a second\. At \d+\.\d, \d+\.\d % failed\. The first: 500/);
      expect(code, output).to.equal(0);
    } finally {
      failing.close();
    }
    await expectCleaned(1);
  });

  it("says so if the generator is the bottleneck", async () => {
    const busy = join(dir, "busy.mjs");
    writeFileSync(busy, BUSY_LOOP);
    const { code, output } = await play(
      { p99_ms: 20, start_rate: 5 },
      { NODE_OPTIONS: `--import=${pathToFileURL(busy).href}` },
    );
    expect(output).to.match(/not found: held less than 5 requests a second\. At 5\.0 the generator is the bottleneck/);
    expect(code, output).to.equal(1);
    await expectCleaned(1);
  });

  it("says so if it needs more accounts than it may make", async () => {
    const { code, output } = await play({ start_rate: 10_000, max_rate: 10_000, step_seconds: 10, max_accounts: 1 });
    expect(output).to.match(/not found: .* More need over 1 accounts: raise max_accounts, or LIMIT_SCALE/);
    expect(code, output).to.equal(1);
    await expectCleaned(1);
  });

  for (const [signal, after] of [
    ["SIGINT", "cleans up by itself"],
    ["SIGKILL", "is cleaned up by --cleanup"],
  ] as const) {
    it(`${after} after ${signal}`, async () => {
      const command = commandFor({ step_seconds: 1, growth: 1.01, p99_ms: 60_000 });
      const child = startLoad(command, env());
      const lines: string[] = [];
      for await (const line of createInterface(child.stdout)) {
        lines.push(line);
        if (/^5\.\d requests a second/.test(line)) child.kill(signal);
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      if (signal === "SIGKILL") {
        expect((await made()).map(({ status }) => status)).to.include("active");
        const { code, output } = await runLoad([...command, "--cleanup"], env());
        expect(output).to.match(/cleaned up: 1 accounts/);
        expect(code, output).to.equal(0);
      } else {
        expect(lines.join("\n")).to.match(/stopped: held 5\.\d requests a second[^]*cleaned up: 1 accounts/);
        expect(child.exitCode).to.equal(1);
      }
      await expectCleaned(1);
    });
  }

  it("refuses a file that is wrong, and names everything", async () => {
    const { code, output } = await play({ p99: 5, growth: 1, mix: { start: 1 }, url: "http://198.51.100.1" });
    for (const fault of ["p99 must NOT have", "growth must be >= 1.01", "mix.start must NOT have"])
      expect(output).to.include(fault);
    expect(code).to.equal(2);
    const foreign = await play({ url: "http://198.51.100.1" });
    expect(foreign.output).to.include("198.51.100.1 is not this machine");
    expect(foreign.code).to.equal(2);
    const none = await runLoad(["capacity"], env());
    expect(none.output).to.include("--config capacity.json");
    expect(none.code).to.equal(2);
  });
});
