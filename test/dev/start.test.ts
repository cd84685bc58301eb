import { type ChildProcess, exec, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect } from "chai";
import { tryLock } from "../../src/dev/lock.ts";
import { useFolder } from "./support.ts";

/** Runs `npm start` on the servers of the test run, with a database of its own. */
function start(dataDir: string, env: Record<string, string> = {}): ChildProcess {
  const database = `test${dataDir.replace(/\W/g, "_")}`;
  const own = {
    DATA_DIR: dataDir,
    MONGODB_URL: `${process.env["MONGODB_URL"]}/${database}`,
    PORT: "0",
    OPS_PORT: "0",
    HOST: "127.0.0.1",
    LOG_LEVEL: "error",
  };
  return spawn(process.execPath, ["src/dev/bootstrap.mjs", "src/dev/start.ts"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...own, ...env },
  });
}

/** Reads its output up to the empty line after its greeting. */
async function greeting(child: ChildProcess): Promise<string> {
  let printed = "";
  for await (const more of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    printed += String(more);
    if (/Ready: [^]*\n\n$/.test(printed)) break;
  }
  return printed;
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  if (!child.kill(signal)) return child.exitCode; // it has ended already
  const [code]: unknown[] = await once(child, "exit");
  return code;
}

/** Waits until it exits by itself. @returns its exit code and its standard error. */
async function refusal(child: ChildProcess): Promise<{ code: unknown; line: string }> {
  const [[code], line]: [unknown[], string] = await Promise.all([
    once(child, "exit"),
    child.stderr === null ? "" : text(child.stderr),
  ]);
  return { code, line: line.trimEnd() };
}

describe("npm start", function () {
  this.timeout(60_000);
  const folder = useFolder();

  it("shows a key once, in a curl command that works, and stops on a signal", async () => {
    const first = start(folder());
    const shown = await greeting(first);
    const curl = /^ *curl -i (.*)$/m.exec(shown)?.[1] ?? "";
    const { stdout } = await promisify(exec)(`curl -s -o /dev/null -w '%{http_code}' ${curl}`);
    expect(stdout).to.equal("201");
    expect(await stop(first, "SIGINT")).to.equal(0);

    const second = start(folder());
    const again = await greeting(second);
    expect(again).to.include("keys create --account acct_").and.not.include("cos_live_");
    expect(await stop(second, "SIGTERM")).to.equal(0);
  });

  it("refuses a data folder that another process uses", async () => {
    const release = await tryLock(folder());
    const { code, line } = await refusal(start(folder()));
    release?.();
    expect(code).to.equal(1);
    expect(line).to.match(/^npm start is already running on .*$/);
  });

  it("names every wrong setting before it does anything", async () => {
    const { code, line } = await refusal(start(folder(), { PORT: "http", REPLICAS: "0" }));
    expect(code).to.equal(1);
    expect(line.split("\n").map((fault) => fault.split(":")[0])).to.deep.equal(["PORT", "REPLICAS"]);
  });

  it("exits with one line if its port is taken", async () => {
    const first = start(folder());
    const port = /Ready: .*:(\d+)/.exec(await greeting(first))?.[1] ?? "";
    const { code, line } = await refusal(start(`${folder()}/other`, { PORT: port }));
    expect(await stop(first, "SIGTERM")).to.equal(0);
    expect(code).to.equal(1);
    expect(line).to.include(port).and.not.include("\n");
  });
});
