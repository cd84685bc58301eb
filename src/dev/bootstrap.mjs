/**
 * What every npm script runs first: `node src/dev/bootstrap.mjs [ENTRY.ts [arguments]]` installs the packages if they are
 * missing or not those of package-lock.json, then runs the entry in this very process, so that arguments, signals and the
 * exit code are its own. Plain JavaScript without a dependency: on a fresh clone there is nothing else yet.
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

/** @param {string} version @param {string} floor */
function olderThan(version, floor) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [floorMajor = 0, floorMinor = 0] = floor.split(".").map(Number);
  return major < floorMajor || (major === floorMajor && minor < floorMinor);
}

/**
 * The packages of the lock file that are not installed in its version. npm's own record of what it installed is compared,
 * not times: a checkout or a copy changes those. Optional packages of other platforms are never installed.
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
  // npm says nothing until it is done, so the packages that are in place are counted.
  const ticker = setInterval(() => {
    const done = paths.filter((path) => existsSync(path)).length;
    console.error(`  ${done} of ${paths.length} packages, ${seconds(started)}`);
  }, 3000);
  const code = await npmCi();
  clearInterval(ticker);
  if (code !== 0) {
    console.error("npm ci failed, for the reason above. Nothing was started.");
    process.exit(1);
  }
  console.error(`  installed in ${seconds(started)}`);
}

/** @param {number} since */
function seconds(since) {
  return `${Math.round((performance.now() - since) / 1000)} s`;
}

/**
 * Development packages come along even under NODE_ENV=production: they are what runs TypeScript.
 * @returns {Promise<number>} npm's exit code
 */
function npmCi() {
  const ci = ["ci", "--include=dev", "--loglevel=warn", "--progress=false"];
  const npm = process.env.npm_execpath;
  const [command, args] = npm === undefined ? ["npm", ci] : [process.execPath, [npm, ...ci]];
  // Standard output is the entry's alone: everything about installing goes to standard error.
  const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", 2, 2] });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(signal, () => child.kill(signal));
  return new Promise((done, failed) => {
    child.once("error", failed);
    child.once("exit", (code) => {
      process.removeAllListeners("SIGINT").removeAllListeners("SIGTERM");
      done(code ?? 1);
    });
  });
}
