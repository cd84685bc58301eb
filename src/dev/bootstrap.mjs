/**
 * Runs first in every npm script: `node src/dev/bootstrap.mjs [ENTRY.ts [arguments]]` installs the packages if they are
 * missing or differ from package-lock.json, then runs the entry. The entry runs in this same process, so it receives the
 * arguments and signals and sets the exit code. This file is plain JavaScript without dependencies, because a fresh clone
 * has no packages yet.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** @param {string} path */
const readJson = (path) => JSON.parse(readFileSync(resolve(ROOT, path), "utf8"));

const wanted = readJson("package.json").engines.node.replace(">=", "");
if (olderThan(process.versions.node, wanted)) {
  console.error(`Node ${wanted} or newer is needed; this is ${process.versions.node}.`);
  process.exit(1);
}
if (missingPackages().length > 0) await install();

const [entry, ...args] = process.argv.slice(2);
if (entry !== undefined) {
  process.argv = [process.execPath, resolve(ROOT, entry), ...args];
  await import("tsx"); // from here on `import` understands TypeScript
  await import(pathToFileURL(resolve(ROOT, entry)).href);
}

/** @param {string} version @param {string} minimum */
function olderThan(version, minimum) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [minMajor = 0, minMinor = 0] = minimum.split(".").map(Number);
  return major < minMajor || (major === minMajor && minor < minMinor);
}

/**
 * Returns the packages of the lock file that are not installed in the locked version. Compares with npm's own record of
 * what it installed, not with file times: a checkout or a copy changes file times. Skips optional packages, because npm
 * never installs those of other platforms.
 */
function missingPackages() {
  const record = "node_modules/.package-lock.json";
  const installed = existsSync(resolve(ROOT, record)) ? readJson(record).packages : {};
  return lockedPackages().filter(([path, { version, optional }]) => !optional && installed[path]?.version !== version);
}

/** @returns {[path: string, { version: string, optional?: boolean }][]} */
function lockedPackages() {
  return Object.entries(readJson("package-lock.json").packages).filter(([path]) => path !== "");
}

async function install() {
  console.error("Installing the npm packages (npm ci) …");
  const started = performance.now();
  const paths = lockedPackages().flatMap(([path, { optional }]) =>
    optional ? [] : [resolve(ROOT, path, "package.json")],
  );
  // npm prints nothing until it is done, so progress is the number of packages already on disk.
  const ticker = setInterval(() => {
    const done = paths.filter((path) => existsSync(path)).length;
    console.error(`  ${done} of ${paths.length} packages, ${seconds(started)}`);
  }, 3000);
  const code = await npmCi();
  clearInterval(ticker);
  if (code !== 0) {
    console.error("npm ci failed; its error is above. Nothing was started.");
    process.exit(1);
  }
  console.error(`  installed in ${seconds(started)}`);
}

/** @param {number} since */
function seconds(since) {
  return `${Math.round((performance.now() - since) / 1000)} s`;
}

/**
 * Installs the development packages even under NODE_ENV=production, because tsx, which runs TypeScript, is one of them.
 * @returns {Promise<number>} npm's exit code
 */
function npmCi() {
  const ci = ["ci", "--include=dev", "--loglevel=warn", "--progress=false"];
  const npm = process.env.npm_execpath;
  const [command, args] = npm === undefined ? ["npm", ci] : [process.execPath, [npm, ...ci]];
  // npm's output goes to standard error: standard output is reserved for the entry.
  const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", 2, 2] });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      process.removeAllListeners("SIGINT").removeAllListeners("SIGTERM");
      resolve(code ?? 1);
    });
  });
}
