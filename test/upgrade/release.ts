import { execFile, execFileSync } from "node:child_process";
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle } from "../../src/dev/bundle.ts";
import { say } from "../../src/dev/output.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

/** What is deployed. The last one typesets packs in commits before 2026-11-28. */
const PROGRAMS = ["main.ts", "admin/main.ts", "pack/typeset-program.ts", "pack/press.ts"];

/** Returns the full hash of a commit, tag or branch; undefined if this clone lacks it, as a shallow one may. */
export async function commitOf(ref: string): Promise<string | undefined> {
  return run("git", ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], { cwd: ROOT }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/**
 * Checks a commit out into a git worktree, gives it its packages, and compiles it as its Docker image does.
 * @param dir a folder that does not exist yet. The worktree is removed when this process exits.
 * @returns the folder of the compiled code.
 */
export async function buildRelease(commit: string, dir: string): Promise<string> {
  say(`Compiling ${commit.slice(0, 7)} …`);
  const started = performance.now();
  await run("git", ["worktree", "add", "--detach", dir, commit], { cwd: ROOT });
  process.once("exit", () => {
    try {
      execFileSync("git", ["worktree", "remove", "--force", dir], { cwd: ROOT, stdio: "ignore" });
    } catch {
      // The clone keeps a note of a worktree that is gone. `git gc` removes it.
    }
  });
  await installPackages(dir);
  const dist = join(dir, "dist");
  const programs = PROGRAMS.filter((file) => existsSync(join(dir, "src", file)));
  if (["src/dev/bundle.ts", "src/bundle.ts"].some((file) => existsSync(join(dir, file))))
    await bundle(dist, programs, join(dir, "src"));
  else await compile(dir, dist);
  say(`  done after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return dist;
}

/** Compiles a release from before the bundle. */
async function compile(dir: string, dist: string): Promise<void> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  // The types of Node and mocha are development packages, so they are taken from here. Its own tests checked its types.
  const types = ["--typeRoots", join(ROOT, "node_modules/@types"), "--noCheck"];
  await run(process.execPath, [tsc, "--project", join(dir, "tsconfig.build.json"), "--outDir", dist, ...types]);
}

interface Package {
  version?: string;
  dev?: boolean;
  optional?: boolean;
}

/**
 * Installs what a release runs on. Hard links to the packages that are installed here are enough if all of them have the
 * version that the release locks; else npm installs them.
 */
async function installPackages(dir: string): Promise<void> {
  const locked = packagesIn(join(dir, "package-lock.json")).filter(([path, { dev }]) => path !== "" && dev !== true);
  const here = new Map(packagesIn(join(ROOT, "node_modules/.package-lock.json")));
  const missing = locked.filter(([path, { version, optional }]) => !optional && here.get(path)?.version !== version);
  if (missing.length > 0) {
    say(`  installing its packages (npm ci): ${missing.length} of ${locked.length} differ from those here`);
    await run("npm", ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: dir });
    return;
  }
  for (const [path, { version }] of locked)
    if (here.get(path)?.version === version) linkPackage(join(ROOT, path), join(dir, path));
}

function packagesIn(lockFile: string): [path: string, Package][] {
  return Object.entries((JSON.parse(readFileSync(lockFile, "utf8")) as { packages: Record<string, Package> }).packages);
}

/** Links the files of one package, without the packages nested in it: those are packages of the lock file, too. */
function linkPackage(from: string, to: string): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const inside = join(entry.parentPath, entry.name).slice(from.length + 1);
    if (!entry.isFile() || inside.startsWith("node_modules/")) continue;
    const target = join(to, inside);
    mkdirSync(dirname(target), { recursive: true });
    if (!existsSync(target)) linkOrCopy(join(from, inside), target);
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE); // another file system
  }
}
