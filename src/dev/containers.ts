/**
 * `npm run test:containers`: builds the image, runs it as it is deployed, brings docker-compose.yml up and plays the built
 * Deployment. Uses podman with a storage of its own. Without podman or docker-compose it says so in one line and counts as
 * skipped. Arguments are passed to mocha.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBaseImages } from "./base-images.ts";
import { runChild } from "./child.ts";
import { startEngine } from "./container-engine.ts";
import { dataDirOf, toolsIn } from "./data-dir.ts";
import { findKustomize } from "./kubernetes.ts";
import { lock } from "./lock.ts";
import { say } from "./output.ts";
import { onPath } from "./programs.ts";
import { exitWith } from "./run-suite.ts";

const NEEDED = ["podman", "docker-compose", "ip"];
const ON_DEBIAN =
  "apt-get install --no-install-recommends podman runc netavark aardvark-dns iptables iproute2 catatonit docker-compose mmdebstrap";

/** The first module builds the image before all tests. */
const ONE_BY_ONE = ["--no-parallel", "--exit", "--require", "test/containers/support/image.ts"];

/** @returns mocha's exit code: the number of failures. */
async function run(args: string[], stopping: AbortSignal): Promise<number> {
  const missing = NEEDED.filter((program) => onPath(program) === undefined);
  if (missing.length > 0) {
    say(`Skipped: the containers are not tested without ${missing.join(" and ")}. On Debian: ${ON_DEBIAN}`);
    return 0;
  }
  const tools = toolsIn(dataDirOf(process.env));
  const home = join(tools, "containers");
  const release = await lock(home, () => say("Waiting for another process to finish testing containers …"));
  const temporary = await mkdtemp(join(tmpdir(), "onboarding-containers-"));
  const engine = await startEngine(home, temporary);
  try {
    await engine.removeAll(); // what an earlier run left behind that was killed
    if (!(await ensureBaseImages({ tools, temporary, signal: stopping }))) return 0;
    const selection = args.some((arg) => existsSync(arg)) ? args : ["test/containers/**/*.test.ts", ...args];
    const kustomize = await findKustomize(tools, stopping);
    const built = kustomize === undefined ? {} : { K8S_KUSTOMIZE: JSON.stringify(kustomize) };
    const env = { ...process.env, ...built, TMPDIR: temporary };
    const options = { stopping, forced: stopping, env, stopWith: "SIGKILL" } as const;
    const mocha = [...ONE_BY_ONE, ...selection];
    return (await runChild("node_modules/mocha/bin/mocha.js", mocha, options).exited) ?? 1;
  } finally {
    await engine.removeAll();
    await engine.stop();
    await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
    release();
  }
}

await exitWith(({ stopping }) => run(process.argv.slice(2), stopping));
