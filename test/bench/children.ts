import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { imageFlags } from "../../src/dev/image-flags.ts";

export interface ChildOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Path of a file that gets the child's standard output, as in a container. Without it the output is dropped. */
  readonly log?: string;
  readonly args?: readonly string[];
}

/** Longer than any program takes for one message, but for a run of the generator, which says how long it takes. */
export const ANSWER_SECONDS = 120;

/** A program that is ready. */
export interface Child {
  readonly pid: number;
  /** The message with which it said so. */
  readonly ready: { readonly port: number };
  /**
   * Sends a message and returns the result that it answers with. @throws what the program failed with. A program that does
   * not answer within `seconds` is ended, or its answer would be taken for that to the next message.
   */
  ask(message: object, seconds?: number): Promise<unknown>;
  stop(): Promise<void>;
}

/** Runs compiled programs, without tsx and in production mode. `stopAll` and the signal's abort end them all. */
export class Children {
  readonly #dist: string;
  readonly #running = new Set<ChildProcess>();

  /** @param dist the folder that `build` returned. */
  constructor(dist: string, signal: AbortSignal) {
    this.#dist = dist;
    signal.addEventListener("abort", () => void this.stopAll());
  }

  /**
   * Starts a program and waits until it is ready.
   * @param program a file of the project, without its ending: "src/main".
   * @throws with what it printed, if it exits instead.
   */
  async start(program: string, { env = {}, log, args = [] }: ChildOptions = {}): Promise<Child> {
    const stdout = log === undefined ? "ignore" : openSync(log, "a");
    const child = fork(join(this.#dist, `${program}.js`), args, {
      // NODE_OPTIONS would make the child load tsx, which runs the bench.
      env: { ...process.env, NODE_OPTIONS: "", NODE_ENV: "production", ...env },
      execArgv: imageFlags(),
      stdio: ["ignore", stdout, "pipe", "ipc"],
    });
    if (stdout !== "ignore") closeSync(stdout);
    this.#running.add(child);
    const exited = once(child, "exit").then(() => void this.#running.delete(child));
    let printed = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const ended = exited.then((): never => {
      throw new Error(`${program} ${args.join(" ")} ended: ${printed.trim()}`);
    });
    ended.catch(() => undefined); // whoever waits for an answer gets it
    const [ready] = (await Promise.race([once(child, "message"), ended])) as [Child["ready"]];
    return {
      pid: child.pid ?? NaN,
      ready,
      async ask(message, seconds = ANSWER_SECONDS) {
        const late = AbortSignal.timeout(seconds * 1000);
        const answered = once(child, "message", { signal: late });
        child.send(message, () => undefined); // of a program that ended `ended` tells
        const [answer] = (await Promise.race([answered, ended]).catch((error: unknown) => {
          if (!late.aborted) throw error;
          child.kill("SIGKILL");
          throw new Error(`${program} did not answer within ${seconds} s.`);
        })) as [{ result?: unknown; error?: string }];
        if (answer.error !== undefined) throw new Error(`${program}: ${answer.error}`);
        return answer.result;
      },
      async stop() {
        child.kill("SIGKILL");
        await exited;
      },
    };
  }

  async stopAll(): Promise<void> {
    const exits = [...this.#running].map((child) => once(child, "exit"));
    for (const child of this.#running) child.kill("SIGKILL");
    await Promise.all(exits);
  }
}
