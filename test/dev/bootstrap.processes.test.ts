import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { useFolder } from "./support.ts";

const BOOTSTRAP = fileURLToPath(new URL("../../src/dev/bootstrap.mjs", import.meta.url));

/** A fake npm. It leaves what `npm ci` would leave, and fails if there is a file `npm-fails`. */
const NPM = `
  const fs = require("node:fs");
  fs.appendFileSync("npm.log", process.argv[2] + "\\n");
  fs.mkdirSync("node_modules/tsx", { recursive: true });
  fs.writeFileSync("node_modules/tsx/package.json", '{"name":"tsx","type":"module","exports":"./index.js"}');
  fs.writeFileSync("node_modules/tsx/index.js", "");
  fs.copyFileSync("package-lock.json", "node_modules/.package-lock.json");
  process.exit(fs.existsSync("npm-fails") ? 1 : 0);
`;

describe("bootstrap.mjs", () => {
  const folder = useFolder();

  function write(path: string, content: unknown): void {
    writeFileSync(join(folder(), path), typeof content === "string" ? content : JSON.stringify(content));
  }

  function lockTsxAt(version: string): void {
    write("package-lock.json", {
      packages: { "": {}, "node_modules/tsx": { version }, "node_modules/other": { version: "1.0.0", optional: true } },
    });
  }

  function run(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
    const env = { ...process.env, npm_execpath: join(folder(), "npm.cjs") };
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        ["src/dev/bootstrap.mjs", "entry.mjs", ...args],
        { cwd: folder(), env },
        (error, stdout, stderr) => {
          resolve({ code: error?.code ?? 0, stdout, stderr });
        },
      );
    });
  }

  beforeEach(() => {
    mkdirSync(join(folder(), "src/dev"), { recursive: true });
    cpSync(BOOTSTRAP, join(folder(), "src/dev/bootstrap.mjs"));
    write("package.json", { type: "module", engines: { node: ">=20.19" } });
    write("npm.cjs", NPM);
    write("entry.mjs", "console.log(process.argv.slice(2).join(' ')); process.exitCode = 7;");
    lockTsxAt("1.0.0");
  });

  it("installs the packages once, then passes on arguments and the exit code", async () => {
    expect(await run("a", "--b")).to.include({ code: 7, stdout: "a --b\n" });
    expect(await run("c")).to.deep.equal({ code: 7, stdout: "c\n", stderr: "" });
    expect(readFileSync(join(folder(), "npm.log"), "utf8")).to.equal("ci\n");
  });

  it("installs again if the lock file has another version, or if node_modules is missing", async () => {
    await run();
    lockTsxAt("1.0.1");
    await run();
    rmSync(join(folder(), "node_modules"), { recursive: true });
    await run();
    expect(readFileSync(join(folder(), "npm.log"), "utf8")).to.equal("ci\nci\nci\n");
  });

  it("does not run the entry if the installation failed", async () => {
    write("npm-fails", "");
    const { code, stdout, stderr } = await run();
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    expect(stderr).to.include("npm ci failed");
  });

  it("refuses a Node that is too old, with one line", async () => {
    write("package.json", { type: "module", engines: { node: ">=99.1" } });
    const { code, stderr } = await run();
    expect(code).to.equal(1);
    expect(stderr).to.equal(`Node 99.1 or newer is needed; this is ${process.versions.node}.\n`);
    expect(existsSync(join(folder(), "npm.log"))).to.equal(false);
  });
});
