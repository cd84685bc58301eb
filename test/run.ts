/**
 * `npm test`, and every `npm run test:NAME`: runs a suite of test/suites.ts against an empty Redis and an empty MongoDB, and
 * removes them. Arguments are passed to mocha; files, folders or patterns among them are run in place of the whole suite.
 * `--full` runs the large form of a suite that has one. Exits with mocha's exit code, the number of failures; with 1 if the
 * suite could not start or was interrupted; with 0 if a tool is missing and the suite is skipped.
 */
import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { loadOptions } from "mocha/lib/cli/options.cjs";
import { runChild } from "../src/dev/child.ts";
import { say, SetupError } from "../src/dev/output.ts";
import { onPath } from "../src/dev/programs.ts";
import { ensureServers } from "../src/dev/servers.ts";
import { exitWith } from "./support/exit-with.ts";
import { TOOLS } from "./support/tools.ts";
import { OTHER_FILES, OTHER_FOLDERS, PROGRAMS, type Suite, SUITES } from "./suites.ts";

/** All files of tests in a folder. */
const ALL = "**/*.test.ts";
const MOCHA = "node_modules/mocha/bin/mocha.js";

const [name = "", ...args] = process.argv.slice(2);
await exitWith(({ stopping }) => runSuite(name, args, stopping));

async function runSuite(name: string, args: readonly string[], stopping: AbortSignal): Promise<number> {
  const suite = SUITES[name] ?? PROGRAMS[name];
  if (suite === undefined) throw new SetupError(`There is no suite "${name}": ${Object.keys(SUITES).join(", ")}.`);
  const missing = suite.needs?.programs.filter((program) => onPath(program) === undefined) ?? [];
  if (missing.length > 0) {
    say(`Skipped: not on the PATH: ${missing.join(", ")}. On Debian: apt-get install ${suite.needs?.debian}`);
    return 0;
  }
  const temporary = await mkdtemp(join(tmpdir(), `onboarding-${name}-`));
  try {
    await keepTransformed(temporary);
    return await runIn(temporary, { name, suite, args, stopping });
  } finally {
    await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Lets tsx find in the temporary folder of a run what it has transformed in earlier runs, and keep what it transforms now. */
async function keepTransformed(temporary: string): Promise<void> {
  const cache = `tsx-${process.geteuid?.() ?? userInfo().username}`;
  await mkdir(join(tmpdir(), cache), { recursive: true });
  await symlink(join(tmpdir(), cache), join(temporary, cache));
}

interface Run {
  readonly name: string;
  readonly suite: Suite;
  readonly args: readonly string[];
  readonly stopping: AbortSignal;
}

async function runIn(temporary: string, { name, suite, args, stopping }: Run): Promise<number> {
  const chosen = choose(name, suite, args);
  const servers =
    suite.servers === false
      ? undefined
      : await ensureServers({ dataDir: temporary, tools: TOOLS, env: process.env, signal: stopping });
  try {
    const urls = servers && { REDIS_URL: servers.redisUrl, MONGODB_URL: servers.mongodbUrl };
    const modules = await suite.setUp?.();
    const ready = await modules?.setUp({ urls: servers, temporary, subject: chosen.subject, signal: stopping });
    try {
      if (ready?.skipped !== undefined) {
        say(`Skipped: ${ready.skipped}`);
        return 0;
      }
      const env = {
        ...process.env,
        ...urls,
        TMPDIR: temporary, // so that the temporary files of interrupted tests are removed
        ...chosen.env,
        ...ready?.env,
      };
      // mocha's parallel runner does not stop cleanly on a signal, so it is killed together with all processes of the tests.
      const options = { stopping, forced: stopping, env, stopWith: "SIGKILL" } as const;
      return (await runChild(suite.program ?? MOCHA, chosen.args, options).exited) ?? 1;
    } finally {
      await ready?.tearDown?.();
    }
  } finally {
    await servers?.stop();
  }
}

/** What the arguments ask for: mocha's arguments, more variables, and the version that `test:upgrade` starts from. */
interface Choice {
  readonly args: string[];
  readonly env: NodeJS.ProcessEnv;
  readonly subject?: string;
}

/** @throws {SetupError} if an argument names a file that does not exist, or the suite has no large form. */
function choose(name: string, suite: Suite, given: readonly string[]): Choice {
  if (suite.program !== undefined) return { args: [...given], env: {} };
  const full = given.includes("--full");
  if (full && suite.full === undefined) throw new SetupError(`The suite ${name} has no large form.`);
  const args = given.filter((arg) => arg !== "--full");
  // mocha itself says which arguments are paths: "-g test/x" names none.
  const { _: paths = [] } = loadOptions([...args, "--no-config", "--no-package"]);
  const [subject] = paths.filter((path) => suite.takesSubject === true && !existsSync(path));
  const chosen = paths.filter((path) => path !== subject);
  for (const path of chosen)
    if (!/[*?[{]/.test(path) && !existsSync(path)) throw new SetupError(`There is no file or folder ${path}.`);
  const options = args.filter((arg) => !paths.includes(arg));
  const files = chosen.length > 0 ? chosen.map(patternOf) : (suite.files ?? [`test/${name}/${ALL}`]);
  const others = [...OTHER_FOLDERS.map((folder) => `${folder}/**`), ...OTHER_FILES];
  const ignored = name === "test" && chosen.length === 0 ? others.flatMap((pattern) => ["--ignore", pattern]) : [];
  return {
    args: [...(suite.options ?? []), ...files, ...ignored, ...options],
    env: full ? { ...suite.full } : {},
    ...(subject !== undefined && { subject }),
  };
}

/** Of a folder, mocha would also load the files that are no tests. */
function patternOf(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, ALL) : path;
}
