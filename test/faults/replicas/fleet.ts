import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { compiled } from "../../support/compiled.ts";
import type { LogLine, Settings } from "../../support/processes.ts";
import { openOperators, type Operators } from "../../support/operators.ts";
import { environmentOf, testConfig } from "../../support/service.ts";
import { startBalancer } from "./balancer.ts";

/** One process of the service, like a container: it has its own ports and ends on SIGTERM. */
export interface Member {
  readonly port: number;
  readonly opsPort: number;
  readonly child: ChildProcess;
  /** All its log lines so far, parsed. */
  readonly log: LogLine[];
  /** Sends the signal and waits for the process to exit. @returns its exit code, or null if the signal killed it. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

/** Several processes of the service over one database, behind a round-robin balancer. */
export interface Fleet {
  /** The balancer's URL. */
  readonly url: string;
  readonly members: readonly Member[];
  readonly operators: Operators;
  /**
   * Starts one more process, which then gets its share of new connections.
   * @param main the compiled main.js of another version of the service.
   */
  join(main?: string): Promise<Member>;
  stop(): Promise<void>;
}

export interface FleetOptions {
  /** Additional environment variables for each process, in order. */
  environments?: NodeJS.ProcessEnv[];
  /** The compiled main.js of another version of the service. */
  main?: string | undefined;
}

/** Starts `size` processes. */
export async function startFleet(
  size: number,
  settings: Settings = {},
  { environments = [], main: firstMain }: FleetOptions = {},
): Promise<Fleet> {
  // All processes share one database, so its random name is generated only once.
  const config = testConfig(settings);
  const members: Member[] = [];
  const balancer = await startBalancer(() => members.filter(({ child }) => isRunning(child)));
  const join = async (main?: string, environment: NodeJS.ProcessEnv = {}): Promise<Member> => {
    const env = {
      ...process.env,
      ...environmentOf(config),
      ...environment,
    };
    const member = await startMember(env, main);
    members.push(member);
    return member;
  };
  try {
    await Promise.all(Array.from({ length: size }, (_, index) => join(firstMain, environments[index])));
  } catch (error) {
    await Promise.all(members.map((member) => member.end("SIGKILL")));
    balancer.close();
    throw error;
  }
  const operators = await openOperators(config);
  return {
    url: balancer.url,
    members,
    operators,
    join: (main) => join(main),
    async stop() {
      balancer.close();
      await Promise.all(members.map((member) => member.end("SIGTERM")));
      await operators.mongo.db.dropDatabase();
      await operators.close();
    },
  };
}

/**
 * Starts one process of the service, and waits until it serves.
 * @param main the compiled main.js of another version of the service.
 * @throws with its stderr output if it exits before that.
 */
export async function startMember(env: NodeJS.ProcessEnv, main?: string): Promise<Member> {
  const program = main ?? (await compiled("main.ts"));
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const log: LogLine[] = [];
  if (child.stdout === null || child.stderr === null) throw new Error("The service's output is not a pipe.");
  createInterface(child.stdout).on("line", (line) => log.push(JSON.parse(line) as LogLine));
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const gone = once(child, "close");
  const [first] = (await Promise.race([once(child, "message"), gone])) as [
    { port: number; opsPort: number } | number | null,
  ];
  if (typeof first !== "object" || first === null) throw new Error(errors);
  return {
    ...first,
    child,
    log,
    async end(signal) {
      if (isRunning(child)) {
        child.kill(signal);
        child.kill("SIGCONT"); // a stopped process would not handle the signal
        await gone;
      }
      return child.exitCode;
    },
  };
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
