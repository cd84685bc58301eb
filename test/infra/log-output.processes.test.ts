import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { compiled } from "../support/compiled.ts";
import { useProcesses, useSharedAccount } from "../support/use-service.ts";

const LINES = 2_000;

/** Runs a program that has `log` and `lines(count)`, which logs lines numbered from 0. */
async function program(source: string): Promise<ChildProcessByStdio<null, Readable, Readable>>;
async function program(source: string, output: number): Promise<ChildProcess>;
async function program(source: string, output: number | "pipe" = "pipe"): Promise<ChildProcess> {
  const head = `import { createLog, linesIn } from ${JSON.stringify(await compiled("infra/log.ts"))};
    const log = createLog("info");
    let n = 0;
    const lines = (count) => { for (const end = n + count; n < end; n++) log.info({ n, pad: "x".repeat(150) }, "line"); };`;
  const args = ["--input-type=module", "--eval", `${head}\n${source}`];
  return spawn(process.execPath, args, { stdio: ["ignore", output, "pipe"] });
}

interface Line {
  n?: number;
  lines?: number;
}

const parsed = (output: string): Line[] =>
  output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
const ALL = Array.from({ length: LINES }, (_, n) => n);

describe("the log on standard output", () => {
  for (const [what, end] of [
    ["the process has nothing left to do", ""],
    ["it calls process.exit", "process.exit()"],
    ["an exception is not caught", 'throw new Error("crashed")'],
  ]) {
    it(`has every line, in order, when ${what}`, async () => {
      const child = await program(`lines(${LINES / 2}); setImmediate(() => { lines(${LINES / 2}); ${end} });`);
      expect(parsed(await text(child.stdout)).map(({ n }) => n)).to.deep.equal(ALL);
    });
  }

  it("has every line that was flushed, also if its reader is slow, and the process is killed then", async () => {
    const child = await program(
      `lines(${LINES}); linesIn(log).write({ n: ${LINES} }); await linesIn(log).flushed(); process.kill(process.pid, "SIGKILL");`,
    );
    await setTimeout(500); // the pipe is full meanwhile
    expect(parsed(await text(child.stdout)).map(({ n }) => n)).to.deep.equal([...ALL, LINES]);
  });

  it("has every line soon, without a full batch, also one that came while another was being written", async () => {
    const child = await program("lines(1); log.flush(); lines(1); setInterval(() => undefined, 1000);");
    let output = "";
    for await (const chunk of child.stdout) {
      output += String(chunk);
      if (output.split("\n").length > 2) break;
    }
    expect(parsed(output).map(({ n }) => n)).to.deep.equal([0, 1]);
    child.kill("SIGKILL");
  });

  it("has every line once in a file, also if one batch is written while others are complete", async () => {
    const folder = mkdtempSync(join(tmpdir(), "log-"));
    const fd = openSync(join(folder, "log"), "w");
    const child = await program("for (let turn = 0; turn < 50; turn++) { lines(40); log.flush(); }", fd);
    await once(child, "exit");
    closeSync(fd);
    const lines = parsed(readFileSync(join(folder, "log"), "utf8"));
    rmSync(folder, { recursive: true });
    expect(lines.map(({ n }) => n)).to.deep.equal(ALL);
  });

  it("neither blocks nor fills the memory while nobody reads, and then says how many lines it dropped", async () => {
    const child = await program(`
      process.once("SIGUSR2", () => log.flush(() => process.exit()));
      lines(50_000);
      process.stderr.write("logged");
      setInterval(() => undefined, 1000);`);
    await once(child.stderr, "data");
    child.kill("SIGUSR2");
    const output = parsed(await text(child.stdout));
    const [{ lines = 0 } = {}] = output.filter((line) => line.lines !== undefined);
    expect(lines).to.be.above(0);
    expect(output.filter(({ n }) => n !== undefined).length + lines).to.equal(50_000);
  });

  it("drops a line that is larger than everything that may wait, and keeps the others", async () => {
    const child = await program(`log.info({ pad: "x".repeat(4 * 1024 * 1024) }, "line"); lines(2); process.exit();`);
    const output = parsed(await text(child.stdout));
    expect(output.map(({ n, lines }) => n ?? { lines })).to.deep.equal([0, 1, { lines: 1 }]);
  });

  it("lets the process end when the reader is gone", async () => {
    const child = await program(`lines(${LINES}); setTimeout(() => { lines(${LINES}); process.exit(); }, 300);`);
    child.stdout.once("data", () => child.stdout.destroy());
    expect((await once(child, "exit"))[0]).to.equal(0);
  });

  it("does not try again to write the last lines when the reader is gone", async () => {
    const child = await program(`
      Atomics.wait = () => process.stderr.write("waits ");
      process.once("SIGUSR2", () => { lines(1); process.exit(); });
      process.stderr.write("ready ");
      setInterval(() => undefined, 1000);`);
    let said = "";
    child.stderr.on("data", (data) => (said += String(data)));
    await once(child.stderr, "data");
    child.stdout.destroy();
    await once(child.stdout, "close");
    child.kill("SIGUSR2");
    expect((await once(child, "close"))[0]).to.equal(0);
    expect(said).to.equal("ready ");
  });

  it("lets the process end when the reader has stopped reading", async () => {
    const child = await program(`lines(${LINES}); process.exit();`);
    expect((await once(child, "exit"))[0]).to.equal(0);
  });
});

describe("the log of a service that gets SIGTERM", () => {
  const service = useProcesses();
  const { client } = useSharedAccount(service);

  it("has a line for every request that was answered", async () => {
    const responses = await Promise.all(Array.from({ length: 40 }, () => client.get("/limits")));
    const closed = once(service.child, "close");
    service.child.kill("SIGTERM");
    await closed;
    const logged = new Set(service.log.map(({ request_id }) => request_id));
    expect(responses.filter(({ headers }) => !logged.has(headers.get("x-request-id") ?? ""))).to.deep.equal([]);
    expect(service.log.at(-1)?.msg).to.equal("stopped");
  });
});
