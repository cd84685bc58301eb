import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { podman } from "./podman.ts";

/** Value of `addr_assign_type` of an interface whose address was set. */
const SET = "3";

/**
 * Makes the present MAC address of every network's bridge its fixed one. Otherwise a Linux bridge has the lowest address of
 * the interfaces on it, which can change when a container starts or stops. Containers that know the old address then reach
 * neither the name service nor a published port, for up to 40 s. netavark sets a fixed address since 1.9, but Debian 12 has
 * 1.4. Call this after the first container of a network starts, and before a container uses the bridge.
 */
export async function fixBridgeAddresses(): Promise<void> {
  const networks = await podman("network", "ls", "--quiet");
  const bridges = await podman("network", "inspect", "--format", "{{.NetworkInterface}}", ...networks.split("\n"));
  for (const bridge of bridges.split("\n")) {
    const folder = `/sys/class/net/${bridge}`;
    if (bridge === "" || !existsSync(folder)) continue; // no container has started yet
    if ((await readText(`${folder}/addr_assign_type`)) === SET) continue;
    const address = await readText(`${folder}/address`);
    await promisify(execFile)("ip", ["link", "set", "dev", bridge, "address", address]);
  }
}

async function readText(path: string): Promise<string> {
  return (await readFile(path, "utf8")).trim();
}
