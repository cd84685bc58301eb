import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";

/** What a block of commands did. */
export interface Ran {
  /** 0 if the shell goes on; otherwise the exit code of the command that ended it. */
  readonly code: number;
  /** What it wrote on standard output and standard error. */
  readonly output: string;
}

/**
 * A shell into which blocks of commands are pasted one after another. Variables and functions of one block exist in the next.
 * `set -eu` is on: the first command that fails ends the shell.
 */
export class Shell {
  readonly #child: ChildProcess;
  /** Ends the output of each block. */
  readonly #mark = `end-of-block-${randomUUID()}`;
  readonly #gone: Promise<number>;
  #output = "";
  #changed: () => void = () => undefined;

  /** @param options `folder`: where it starts. `env`: its whole environment. */
  constructor({ folder, env }: { folder: string; env: NodeJS.ProcessEnv }) {
    this.#child = spawn("sh", [], {
      cwd: folder,
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdin?.on("error", () => undefined); // the shell has ended: `run` reports it
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
      this.#changed();
    });
    this.#gone = once(this.#child, "close").then(([code]: unknown[]) => Number(code ?? 1));
    this.#child.stdin?.write("exec 2>&1\nset -eu\n");
  }

  /** Runs a block. Resolves when its last command has ended; what it started in the background may go on. */
  async run(block: string): Promise<Ran> {
    const from = this.#output.length;
    const quoted = `'${block.replaceAll("'", String.raw`'\''`)}'`;
    this.#child.stdin?.write(`eval ${quoted} </dev/null\nprintf '%s\\n' ${this.#mark}\n`);
    const ended = await Promise.race([this.#until(() => this.#output.includes(this.#mark, from)), this.#gone]);
    const [output = "", ...next] = this.#output.slice(from).split(this.#mark);
    // A block that ends the shell fails, whatever its exit code: the blocks after it would not run.
    return { code: next.length > 0 ? 0 : ended || 1, output };
  }

  /** Ends the shell. What its blocks left running ends with the test run, which kills its process group. */
  async close(): Promise<void> {
    this.#child.kill("SIGTERM");
    this.#child.stdout?.destroy();
    await this.#gone;
  }

  /** Resolves with 0, the exit code of a block after which the shell goes on. */
  #until(met: () => boolean): Promise<0> {
    return new Promise((resolve) => {
      this.#changed = () => {
        if (met()) resolve(0);
      };
      this.#changed();
    });
  }
}
