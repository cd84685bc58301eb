import { spawnSync } from "node:child_process";
import { expect } from "chai";

function run(...args: string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, ["src/dev/bootstrap.mjs", "test/run.ts", ...args], {
    encoding: "utf8",
    timeout: 30_000,
  });
  return { status, stderr };
}

describe("npm test", () => {
  it("runs nothing if a path does not exist", () => {
    const mistyped = "test/candidates/craete.test.ts";
    expect(run("test", "test/config.test.ts", mistyped)).to.deep.equal({
      status: 1,
      stderr: `There is no file or folder ${mistyped}.\n`,
    });
  });

  it("takes no value of an option for a path", () => {
    const { status, stderr } = run("k8s", "--grep", "test/nothing", "test/nowhere.test.ts");
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: "There is no file or folder test/nowhere.test.ts.\n",
    });
  });

  it("says so if a suite has no large form, and if there is no such suite", () => {
    expect(run("k8s", "--full").stderr).to.equal("The suite k8s has no large form.\n");
    expect(run("kubernetes").stderr).to.match(/^There is no suite "kubernetes": test, processes, /);
  });

  it("skips a suite whose tools are missing, in one line that says how to get them", () => {
    const { status, stderr } = spawnSync(process.execPath, ["src/dev/bootstrap.mjs", "test/run.ts", "monitoring"], {
      encoding: "utf8",
      env: { PATH: "" },
      timeout: 30_000,
    });
    expect({ status, stderr }).to.deep.equal({
      status: 0,
      stderr: "Skipped: not on the PATH: prometheus, promtool. On Debian: apt-get install prometheus\n",
    });
  });
});
