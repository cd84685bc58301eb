/**
 * `npm run test:upgrade -- [REF]`: compiles an earlier version (a commit, tag or branch; by default the last release, see
 * test/upgrade/release.json), and runs it beside the working tree on one Redis and one MongoDB. Then restarts replicas
 * behind HAProxy. Further arguments are passed to mocha. If something is missing, says so in one line and skips its tests.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aptInstall, disableService, hasApt } from "./apt.ts";
import { say, SetupError } from "./output.ts";
import { onPath } from "./programs.ts";
import { buildRelease, commitOf } from "./release.ts";
import { runSuite } from "./run-suite.ts";

const SUITE = ["test/upgrade/**/*.test.ts"];
/** The tests keep both cores busy, so they run one at a time. */
const ONE_BY_ONE = ["--no-parallel", "--exit"];

interface Release {
  version: string;
  commit: string;
}

async function earlierVersion(ref: string | undefined, dataDir: string): Promise<NodeJS.ProcessEnv> {
  const release = JSON.parse(readFileSync("test/upgrade/release.json", "utf8")) as Release;
  const commit = await commitOf(ref ?? release.commit);
  if (commit !== undefined) {
    const name = ref ?? release.version;
    return { UPGRADE_FROM: await buildRelease(commit, join(dataDir, "release")), UPGRADE_FROM_NAME: name };
  }
  if (ref !== undefined) throw new SetupError(`This clone has no commit ${ref}.`);
  say(`Skipped: the tests of an upgrade. This clone lacks ${release.version}, the commit ${release.commit}.`);
  return {};
}

async function balancer(signal: AbortSignal): Promise<NodeJS.ProcessEnv> {
  if (onPath("haproxy") === undefined && hasApt() && (await aptInstall("haproxy", signal)))
    await disableService("haproxy", signal);
  const haproxy = onPath("haproxy");
  if (haproxy !== undefined) return { HAPROXY: haproxy };
  say("Skipped: the restarts behind a load balancer. There is no haproxy on the PATH.");
  return {};
}

const [first, ...rest] = process.argv.slice(2);
const ref = first === undefined || first.startsWith("-") || existsSync(first) ? undefined : first;
const args = first === undefined || ref !== undefined ? rest : [first, ...rest];
await runSuite({
  name: "upgrade",
  mocha: [...ONE_BY_ONE, ...(args.some((arg) => existsSync(arg)) ? args : [...SUITE, ...args])],
  env: async (_servers, dataDir, signal) => ({
    ...(await earlierVersion(ref, dataDir)),
    ...(await balancer(signal)),
  }),
});
