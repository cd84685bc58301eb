import { onPath, step } from "./programs.ts";

// Keeps a package from starting its service, both through systemd and through the older init scripts.
const NO_SERVICES = { DEBIAN_FRONTEND: "noninteractive", SYSTEMD_OFFLINE: "1", RUNLEVEL: "1" };
const NO_LONG_RETRIES = "-o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10".split(" ");
const WAIT_FOR_LOCK = ["-o", "DPkg::Lock::Timeout=60"];

/** Installs a Debian package. @returns whether apt-get succeeded: false if there is none, or if the user is not root. */
export async function aptInstall(name: string, signal: AbortSignal): Promise<boolean> {
  if (process.getuid?.() !== 0 || onPath("apt-get") === undefined) return false;
  const options = { signal, env: NO_SERVICES };
  const update = ["-q", ...NO_LONG_RETRIES, "update"];
  await step("Reading Debian's package lists (apt-get update)", "apt-get", update, options);
  const install = ["-q", ...NO_LONG_RETRIES, ...WAIT_FOR_LOCK, "install", "-y", "--no-install-recommends", name];
  return step(`Installing Debian's package ${name} (apt-get install)`, "apt-get", install, options);
}

/** Disables a package's service, so that it does not start at the next boot. */
export async function disableService(name: string, signal: AbortSignal): Promise<void> {
  if (onPath("systemctl") === undefined) return;
  await step(`Disabling the service ${name}`, "systemctl", ["--quiet", "disable", name], { signal, env: NO_SERVICES });
}
