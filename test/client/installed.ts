import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const run = promisify(execFile);

let installing: Promise<string> | undefined;

/**
 * Packs the client as `npm pack` does, and installs the package into an empty project without a network. Once in each process
 * that runs tests; the folder is removed with the temporary folder of the test run.
 * @returns the project's folder. It also has libsql and standardwebhooks, for the examples.
 */
export function installed(): Promise<string> {
  return (installing ??= install());
}

async function install(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "onboarding-package-"));
  // A copy, so that tests that run side by side do not build into one folder. The build needs tsc.
  const source = join(folder, "client");
  await cp(join(ROOT, "src/client"), source, { recursive: true });
  await mkdir(join(source, "node_modules"));
  await symlink(join(ROOT, "node_modules/.bin"), join(source, "node_modules/.bin"));
  const options = {
    cwd: source,
    env: { ...process.env, npm_config_ignore_scripts: "false", npm_config_update_notifier: "false" },
  };
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], options);
  const project = join(folder, "project");
  await mkdir(project);
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  const tarball = join(folder, stdout.trim());
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", tarball], { cwd: project });
  for (const name of ["libsql", "@libsql", "@neon-rs", "detect-libc", "standardwebhooks", "@stablelib", "fast-sha256"])
    await symlink(join(ROOT, "node_modules", name), join(project, "node_modules", name));
  return project;
}

/** The programs that this process has compiled: each is compiled once. */
const programs = new Map<string, Promise<string>>();

/**
 * Compiles a TypeScript module in the project and runs it.
 * @param types packages whose types it may use besides those that it imports.
 * @returns what it prints. @throws with tsc's output if it does not compile, or with its stderr if it fails.
 */
export async function runProgram(
  source: string,
  { env = {}, types = [] }: { env?: NodeJS.ProcessEnv; types?: readonly string[] } = {},
): Promise<string> {
  const options = { cwd: await installed(), env: { ...process.env, ...env } };
  return (await run(process.execPath, [await compiledProgram(source, types)], options)).stdout;
}

/** Compiles a TypeScript module in the project. @returns the path of the compiled file. */
export function compiledProgram(source: string, types: readonly string[]): Promise<string> {
  const key = [...types, source].join("\n");
  const program = programs.get(key) ?? compile(source, types);
  programs.set(key, program);
  return program;
}

async function compile(source: string, types: readonly string[]): Promise<string> {
  const project = await installed();
  const name = `program-${Math.random().toString(36).slice(2)}`;
  await writeFile(join(project, `${name}.ts`), source);
  const roots = ["--typeRoots", join(ROOT, "node_modules/@types")];
  const options = [
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    "--lib",
    "es2023,dom,dom.iterable,dom.asynciterable",
  ];
  const asked = ["--types", types.join(","), ...roots];
  try {
    await run(process.execPath, [TSC, ...options, ...asked, `${name}.ts`], { cwd: project });
  } catch (error) {
    throw new Error(`It does not compile: ${String((error as { stdout: unknown }).stdout)}`, { cause: error });
  }
  return join(project, `${name}.js`);
}
