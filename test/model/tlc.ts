import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MODULES = fileURLToPath(new URL(".", import.meta.url));

/** What TLC is to check. */
export interface TlcJob {
  /** The module's name. Its file is in test/model, or is given by `text`. */
  readonly module: string;
  /** The text of a generated module. It may extend the modules of test/model. */
  readonly text?: string;
  /** The text of TLC's configuration file. */
  readonly cfg: string;
  /** The most memory that Java may take, as its option -Xmx has it. */
  readonly heap?: string;
  readonly cpuSeconds?: number;
  /** Whether the run takes less than half a minute. Java's better compiler then costs more than it gains. */
  readonly short?: boolean;
}

/** What TLC found. */
export interface TlcRun {
  /** All states that TLC generated, and how many of them differ. */
  readonly states: number;
  readonly distinct: number;
  /** The number of states on the longest of the shortest paths from an initial state. */
  readonly depth: number;
  readonly seconds: number;
  /** The invariant or property that does not hold. TLC stops at the first one. */
  readonly violated?: string;
  /** The counterexample, for a reader. */
  readonly counterexample?: string;
  /** The number of its steps. */
  readonly steps?: number;
  /** What the module printed with PrintT, one value a line. */
  readonly printed: readonly string[];
}

/** TLC's messages that matter here. They are constants of the Java class tlc2.output.EC. */
const CODE = {
  stats: 2199,
  depth: 2194,
  state: 2217,
  stuttering: 2218,
  backToState: 2122,
  invariantInitially: 2107,
  propertyInitially: 2108,
  invariant: 2110,
  actionProperty: 2112,
  temporal: 2116,
  completed: 2193,
} as const;

/** Severity of a message that is an error; 4 is a state of a counterexample. */
const ERROR = 1;

interface Message {
  readonly code: number;
  readonly severity: number;
  readonly text: string;
}

/** An archive of TLC's classes, with which Java starts faster. The first short run leaves it to those that start after it. */
const CLASSES = join(tmpdir(), `onboarding-tlc-${process.pid}.jsa`);
let archiving = false;

/**
 * Runs TLC once, with one worker, in a temporary folder of its own.
 * @throws if TLC finds no answer: it does not start, cannot parse a module, meets an error in it, or takes too long.
 */
export async function runTlc({
  module,
  text,
  cfg,
  heap = "3g",
  cpuSeconds = 600,
  short = false,
}: TlcJob): Promise<TlcRun> {
  const { JAVA = "java", TLC_JAR } = process.env;
  if (!TLC_JAR) throw new Error("Run the models with `npm run model` or `npm run test:model`: they find TLC.");
  const folder = mkdtempSync(join(tmpdir(), "onboarding-tlc-"));
  try {
    // TLC looks for its configuration, and for the modules that a module extends, in one folder.
    for (const file of readdirSync(MODULES).filter((name) => name.endsWith(".tla")))
      copyFileSync(join(MODULES, file), join(folder, file));
    if (text !== undefined) writeFileSync(join(folder, `${module}.tla`), text);
    writeFileSync(join(folder, "run.cfg"), cfg);
    const started = performance.now();
    // TLC unpacks its standard modules into Java's temporary folder, which runs side by side must not share.
    const java = ["-XX:+UseSerialGC", `-Xmx${heap}`, "-Xss16m", `-Djava.io.tmpdir=${folder}`];
    java.push(`-XX:TieredStopAtLevel=${short ? 1 : 4}`); // also if the environment says otherwise
    const archives = short && !archiving;
    archiving ||= archives;
    const archive = join(folder, "classes.jsa");
    if (archives) java.push(`-XX:ArchiveClassesAtExit=${archive}`);
    else if (existsSync(CLASSES)) java.push(`-XX:SharedArchiveFile=${CLASSES}`);
    const main = ["-cp", TLC_JAR, "tlc2.TLC"];
    const options = ["-tool", "-deadlock", "-workers", "1", "-metadir", join(folder, "states"), "-config", "run.cfg"];
    const output = await run(JAVA, [...java, ...main, ...options, `${module}.tla`], { cwd: folder, cpuSeconds });
    if (archives && existsSync(archive)) renameSync(archive, CLASSES);
    return { ...readOutput(output), seconds: (performance.now() - started) / 1000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a program. Its limit is CPU time, because the time of a run on a busy machine says nothing about it. */
async function run(program: string, args: string[], options: { cwd: string; cpuSeconds: number }): Promise<string> {
  const limited = ["-c", `ulimit -t ${options.cpuSeconds} && exec "$@"`, "sh", program, ...args];
  const child = spawn("sh", limited, { cwd: options.cwd, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (data: string) => (output += data));
  child.stderr.setEncoding("utf8").on("data", (data: string) => (output += data));
  const [, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (signal !== null)
    throw new Error(`TLC was ended by ${signal}. It may take ${options.cpuSeconds} s of CPU.\n${output.slice(-2000)}`);
  return output;
}

/**
 * Reads what TLC printed with its option -tool: messages between marks that carry a code, and the module's own output.
 * @throws if it reports an error that is not a violation.
 */
export function readOutput(output: string): Omit<TlcRun, "seconds"> {
  const { messages, printed } = messagesOf(output);
  const find = (...codes: number[]) => messages.find(({ code }) => codes.includes(code));
  const [, states, distinct] = /(\d+) states generated, (\d+) distinct/.exec(find(CODE.stats)?.text ?? "") ?? [];
  const depth = /search is (\d+)/.exec(find(CODE.depth)?.text ?? "")?.[1];
  const numbers = { states: Number(states ?? 0), distinct: Number(distinct ?? 0), depth: Number(depth ?? 0), printed };
  const violation = find(
    CODE.invariant,
    CODE.invariantInitially,
    CODE.actionProperty,
    CODE.propertyInitially,
    CODE.temporal,
  );
  if (violation !== undefined) return { ...numbers, ...counterexampleOf(violation, messages) };
  if (find(CODE.completed) === undefined || messages.some(({ severity }) => severity === ERROR))
    throw new Error(`TLC failed: ${failureIn(output, messages)}`);
  return numbers;
}

function counterexampleOf(violation: Message, messages: readonly Message[]) {
  const states = messages.filter(({ code }) => code === CODE.state || code === CODE.stuttering);
  const end = messages.find(({ code }) => code === CODE.backToState)?.text;
  // "Invariant X is violated.", "Action property X is violated."; for a temporal property TLC does not say which.
  const violated = /(?:Invariant|property) (\S+) (?:is|of)/.exec(violation.text)?.[1] ?? violation.text.trim();
  // If an initial state violates the invariant, TLC prints the state in that same message.
  const shown = states.length === 0 ? violation.text : onlyChanges(states.map(({ text }) => text)).join("\n");
  return { violated, steps: Math.max(states.length - 1, 0), counterexample: [shown, end].filter(Boolean).join("\n") };
}

/**
 * Shortens the states of a counterexample: the first one whole, then the action and the variables that it changed.
 * @param states as TLC prints them: a line with the number and the action, then "/\\ variable = value" for each variable.
 */
function onlyChanges(states: readonly string[]): string[] {
  let before = new Set<string>();
  return states.map((state) => {
    const [action = "", ...values] = state.trimEnd().split(/\n(?=\/\\ )/);
    const shown = values.filter((value) => !before.has(value));
    before = new Set(values);
    return [action, ...shown].join("\n");
  });
}

function messagesOf(output: string): { messages: Message[]; printed: string[] } {
  const messages: Message[] = [];
  const printed: string[] = [];
  let open: { code: number; severity: number; lines: string[] } | undefined;
  for (const line of output.split("\n")) {
    const start = /@!@!@STARTMSG (\d+):(\d+) @!@!@/.exec(line);
    if (start) open = { code: Number(start[1]), severity: Number(start[2]), lines: [] };
    else if (line.startsWith("@!@!@ENDMSG") && open !== undefined) {
      messages.push({ code: open.code, severity: open.severity, text: open.lines.join("\n") });
      open = undefined;
    } else if (open !== undefined) open.lines.push(line);
    else if (/^("|<<)/.test(line)) printed.push(line);
  }
  return { messages, printed };
}

/** The lines that say what is wrong, or all if there are none. */
function failureIn(output: string, messages: readonly Message[]): string {
  const errors = messages.filter(({ severity }) => severity === ERROR).map(({ text }) => text);
  const parser = output
    .split("\n")
    .filter((line) => !/^(@!@!@|Parsing|Semantic processing|TLC2 Version|Running|Finished)/.test(line));
  return [...new Set([...errors, ...parser])].join("\n").slice(0, 4_000);
}
