import { readFileSync } from "node:fs";
import { join } from "node:path";
import { aptInstall, disableService } from "../../src/dev/apt.ts";
import { say, SetupError } from "../../src/dev/output.ts";
import { onPath } from "../../src/dev/programs.ts";
import type { SetUp } from "../suites.ts";
import { buildRelease, commitOf } from "./release.ts";

/**
 * Compiles an earlier version, which the tests run beside the working tree on one Redis and one MongoDB, and finds HAProxy,
 * behind which they restart replicas. `npm run test:upgrade -- REF` names the version: a commit, tag or branch. Without it,
 * it is the last release, see release.json.
 */
export const setUp: SetUp = async ({ subject, temporary, signal }) => ({
  env: { ...(await earlierVersion(subject, temporary)), ...(await balancer(signal)) },
});

interface Release {
  version: string;
  commit: string;
}

async function earlierVersion(ref: string | undefined, temporary: string): Promise<NodeJS.ProcessEnv> {
  const release = JSON.parse(readFileSync("test/upgrade/release.json", "utf8")) as Release;
  const commit = await commitOf(ref ?? release.commit);
  if (commit !== undefined) {
    const name = ref ?? release.version;
    return { UPGRADE_FROM: await buildRelease(commit, join(temporary, "release")), UPGRADE_FROM_NAME: name };
  }
  if (ref !== undefined) throw new SetupError(`There is no file, commit, tag or branch ${ref}.`);
  say(`Skipped: the tests of an upgrade. This clone lacks ${release.version}, the commit ${release.commit}.`);
  return {};
}

async function balancer(signal: AbortSignal): Promise<NodeJS.ProcessEnv> {
  if (onPath("haproxy") === undefined && (await aptInstall("haproxy", signal))) await disableService("haproxy", signal);
  const haproxy = onPath("haproxy");
  if (haproxy !== undefined) return { HAPROXY: haproxy };
  say("Skipped: the restarts behind a load balancer. There is no haproxy on the PATH.");
  return {};
}
