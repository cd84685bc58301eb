import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Processes } from "../../support/processes.ts";
import { type Program, startProgram } from "./program.ts";

const LOG_METRICS = fileURLToPath(new URL("../../../k8s/log-metrics/", import.meta.url));
const POD_LOGS = "/var/log/pods";

/**
 * Runs mtail with the arguments of its DaemonSet. Writes the service's output to a file, with the path and the format
 * that the kubelet uses for a container.
 */
export async function startMtail({ child }: Processes): Promise<Program> {
  const node = await mkdtemp(join(tmpdir(), "onboarding-node-"));
  const file = join(node, "onboarding_onboarding-6d5f7c9b8d-x2x4q_0f6b1c3e", "api", "0.log");
  await mkdir(dirname(file), { recursive: true });
  const log = createWriteStream(file);
  if (child.stdout === null) throw new Error("The service's output must be a pipe.");
  createInterface(child.stdout).on("line", (line) => log.write(`${new Date().toISOString()} stdout F ${line}\n`));
  const here: Record<string, string> = { progs: LOG_METRICS, port: "0" };
  const args = (await argsOfDaemonSet()).map((arg) => {
    const [, name = "", value = ""] = /^--(\w+)(?:=(.*))?$/.exec(arg) ?? [];
    return name in here ? `--${name}=${here[name]}` : `--${name}${value && `=${value.replace(POD_LOGS, node)}`}`;
  });
  const mtail = await startProgram("mtail", [...args, "--address=127.0.0.1"]);
  return {
    url: mtail.url,
    async stop() {
      await mtail.stop();
      log.end();
      await rm(node, { recursive: true, force: true });
    },
  };
}

async function argsOfDaemonSet(): Promise<string[]> {
  const { spec } = parse(await readFile(join(LOG_METRICS, "daemon-set.yaml"), "utf8")) as {
    spec: { template: { spec: { containers: [{ args: string[] }] } } };
  };
  return spec.template.spec.containers[0].args;
}
