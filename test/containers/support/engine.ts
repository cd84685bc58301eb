import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { SetupError } from "../../../src/dev/output.ts";
import { onPath } from "../../../src/dev/programs.ts";

/** podman with separate storage, so that it neither sees nor changes the machine's images and containers. */
export interface Engine {
  /** Removes all containers, pods, networks, volumes and secrets of this storage. Images stay. */
  removeAll(): Promise<void>;
  /** Stops the API that docker-compose uses. */
  stop(): Promise<void>;
}

const ANSWERS_WITHIN_MS = 30_000;
/** File descriptors and processes that every machine allows: podman's defaults can be above the hard limits. */
const LIMITS = ["nofile=4096:4096", "nproc=4096:4096"];

/**
 * Sets this process's environment so that podman uses the storage in `home`, and docker-compose uses this podman.
 * @param temporary folder of this run.
 */
export async function startEngine(home: string, temporary: string): Promise<Engine> {
  await mkdir(home, { recursive: true });
  const socket = join(temporary, "podman.sock");
  process.env["CONTAINERS_CONF"] = join(temporary, "containers.conf");
  process.env["CONTAINERS_STORAGE_CONF"] = join(temporary, "storage.conf");
  process.env["DOCKER_HOST"] = `unix://${socket}`;
  await writeFile(process.env["CONTAINERS_CONF"], engineSettings(home));
  await writeFile(process.env["CONTAINERS_STORAGE_CONF"], storageSettings(home));
  const service = spawn("podman", ["system", "service", "--time", "0", `unix://${socket}`], { stdio: "ignore" });
  const exited = once(service, "exit");
  await untilItListens(socket);
  return {
    async removeAll() {
      await podman("pod", "rm", "--all", "--force", "--time", "0");
      await podman("rm", "--all", "--force", "--time", "0", "--volumes");
      await podman("network", "prune", "--force");
      await podman("volume", "rm", "--all", "--force");
      await podman("secret", "rm", "--all");
    },
    async stop() {
      service.kill("SIGTERM");
      await exited;
    },
  };
}

/** Runs a command of podman. @returns what it printed. @throws with its error if it fails. */
export async function podman(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("podman", args, { maxBuffer: 64 * 1024 ** 2 });
  return stdout.trim();
}

/** Returns containers.conf. It uses JSON for strings and lists, which is valid TOML. */
function engineSettings(home: string): string {
  // crun does not run where both versions of cgroups are mounted; runc does.
  const runtime = onPath("runc") === undefined ? [] : ['runtime = "runc"'];
  return [
    "[containers]",
    `default_ulimits = ${JSON.stringify(LIMITS)}`,
    'log_driver = "k8s-file"',
    "[engine]",
    ...runtime,
    'cgroup_manager = "cgroupfs"', // needs no systemd
    'events_logger = "file"',
    'lock_type = "file"', // locks in shared memory would be the machine's
    `tmp_dir = ${JSON.stringify(join(home, "run", "libpod"))}`,
    "[network]",
    `network_config_dir = ${JSON.stringify(join(home, "networks"))}`,
    "",
  ].join("\n");
}

function storageSettings(home: string): string {
  return [
    "[storage]",
    'driver = "overlay"',
    `graphroot = ${JSON.stringify(join(home, "storage"))}`,
    `runroot = ${JSON.stringify(join(home, "run"))}`,
    "",
  ].join("\n");
}

async function untilItListens(path: string): Promise<void> {
  const deadline = performance.now() + ANSWERS_WITHIN_MS;
  while (performance.now() < deadline) {
    const socket = connect(path);
    const listens = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (listens) return;
    await setTimeout(50);
  }
  throw new SetupError("podman's API does not answer; `podman system service` says why.");
}
