import { onPath, step } from "./programs.ts";

// A package must not start a service of its own, neither by systemd nor by the older scripts.
const NO_SERVICES = { DEBIAN_FRONTEND: "noninteractive", SYSTEMD_OFFLINE: "1", RUNLEVEL: "1" };
const NO_LONG_RETRIES = [
  "-o",
  "Acquire::Retries=0",
  "-o",
  "Acquire::http::Timeout=10",
  "-o",
  "Acquire::https::Timeout=10",
];
const WAIT_FOR_OTHERS = ["-o", "DPkg::Lock::Timeout=60"];

/** Whether Debian's packages can be installed here: there is apt-get, and we are root. */
export function hasApt(): boolean {
  return process.getuid?.() === 0 && onPath("apt-get") !== undefined;
}

/** Installs a Debian package as root. @returns whether it is installed now. */
export async function aptInstall(name: string, signal: AbortSignal): Promise<boolean> {
  const options = { signal, env: NO_SERVICES };
  await step(
    "Reading Debian's package lists (apt-get update)",
    "apt-get",
    ["-q", ...NO_LONG_RETRIES, "update"],
    options,
  );
  const install = ["-q", ...NO_LONG_RETRIES, ...WAIT_FOR_OTHERS, "install", "-y", "--no-install-recommends", name];
  return step(`Installing Debian's package ${name} (apt-get install)`, "apt-get", install, options);
}

/** Keeps a service that came with a package from starting at the next boot. */
export async function disableService(name: string, signal: AbortSignal): Promise<void> {
  if (onPath("systemctl") === undefined) return;
  await step(`Keeping ${name} from starting by itself`, "systemctl", ["--quiet", "disable", name], {
    signal,
    env: NO_SERVICES,
  });
}
