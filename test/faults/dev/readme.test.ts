import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { dataDirOf, prepareDataDir, toolsIn } from "../../../src/dev/data-dir.ts";
import { freePort } from "../../../src/dev/server-process.ts";
import { greeting, stop } from "../../dev/support.ts";
import { type CodeBlock, codeBlocksOf } from "../../support/code-blocks.ts";
import { Shell } from "../../support/shell.ts";
import { SHOWN_LANGUAGES, expectShown } from "../../support/shown-output.ts";

/** The block that a newcomer pastes into a terminal of its own, because it runs until Ctrl-C. */
const START = "npm start";

/** Copies the files of the working tree that git tracks or would add. */
function copyTree(to: string): void {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  for (const file of String(list).split("\0").filter(existsSync)) cpSync(file, join(to, file));
}

/** The last section of the operators' guide. Its commands go on in the shell of README.md. */
const GUIDE = "src/docs/operating.md";
const COMMAND_LINE = "\n## The command line\n";

describe("a newcomer who pastes every block of README.md and of the operators' command line", function () {
  this.timeout(300_000);
  let folder = "";
  let service: ChildProcess | undefined;
  let shell: Shell | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-readme-"));
    copyTree(folder);
    // The packages and the downloaded programs are here already: what installs them has tests of its own. Each package has
    // a link of its own. Should npm ci run there, it removes these links. Through one link to all, it removes the packages.
    mkdirSync(join(folder, "node_modules"));
    for (const name of readdirSync("node_modules"))
      symlinkSync(resolve("node_modules", name), join(folder, "node_modules", name));
    prepareDataDir(join(folder, ".data"));
    symlinkSync(toolsIn(dataDirOf(process.env)), toolsIn(join(folder, ".data")));
  });
  afterEach(async () => {
    await shell?.close();
    if (service?.exitCode === null) await stop(service, "SIGINT");
    rmSync(folder, { recursive: true, force: true });
  });

  it("gets a service, a key, a candidate, a refusal and a pack, and nothing else is refused", async () => {
    const port = await freePort();
    const env = environment(port);
    const readme = readFileSync("README.md", "utf8").replaceAll("localhost:8080", `127.0.0.1:${port}`);
    const [, commandLine = ""] = readFileSync(GUIDE, "utf8").split(COMMAND_LINE);
    const [inCheckout] = codeBlocksOf(commandLine); // the others are for images
    expect(inCheckout?.text).to.include("npm run");
    const [first, ...rest] = [...codeBlocksOf(readme), inCheckout!];
    expect(first).to.include({ language: "sh", text: START });

    service = spawn("sh", ["-c", `exec ${START}`], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(await greeting(service)).to.match(/Ready: \S+[^]*cos_live_/);
    const log = service.stdout === null ? Promise.resolve("") : text(service.stdout);

    const terminal = new Shell({ folder, env });
    shell = terminal;
    const printed = await pasteAll(terminal, rest);

    expect(printed.find((output) => output.includes("304 Not Modified"))).to.be.a("string");
    expect(readFileSync(join(folder, "pack.pdf"), "latin1").slice(0, 5)).to.equal("%PDF-");
    expect(await stop(service, "SIGINT"), "the exit code of npm start after Ctrl-C").to.equal(0);
    expect(refusalsIn(await log)).to.deep.equal([429]);
  });
});

/** The environment of a newcomer, without the servers of the tests. */
function environment(port: number): NodeJS.ProcessEnv {
  const { MONGODB_URL: _mongo, REDIS_URL: _redis, DATA_DIR: _data, ...others } = process.env;
  // The loop that reaches the limit must not run into a new hour.
  return { ...others, PORT: String(port), OPS_PORT: "0", HOST: "127.0.0.1", LIMIT_WINDOW_SECONDS: "86400" };
}

/** Runs the blocks and compares the responses that are shown. @returns what each block printed. */
async function pasteAll(shell: Shell, blocks: readonly CodeBlock[]): Promise<string[]> {
  const printed: string[] = [];
  for (const block of blocks) {
    if (SHOWN_LANGUAGES.includes(block.language)) {
      expectShown(block, printed.at(-1) ?? "");
      continue;
    }
    expect(block.language, `line ${block.line}: the test cannot run it`).to.equal("sh");
    const { code, output } = await shell.run(block.text);
    expect(code, `line ${block.line}:\n${block.text}\n${output}`).to.equal(0);
    printed.push(output);
  }
  return printed;
}

/** Returns the statuses of 400 and above in the service's log. */
function refusalsIn(log: string): number[] {
  return [...log.matchAll(/"status":(\d{3})/g)].map(([, status]) => Number(status)).filter((status) => status >= 400);
}
