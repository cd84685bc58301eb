import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { promisify } from "node:util";
import { nodeImage } from "./base-images.ts";
import { podman } from "./podman.ts";

export const IMAGE = "candidate-onboarding-service";
/** The version of package.json, and the tag of the image in the Deployment. */
export const VERSION = (JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version;

/** Time of all files of the image, in seconds. A release takes the time of its commit. */
const EPOCH = Date.UTC(2026, 0) / 1000;
const CERTIFICATES = "/etc/npm-certificates.pem";

/** mocha runs this before all tests: see test/suites.ts. */
export const mochaHooks = {
  async beforeAll(this: Mocha.Context): Promise<void> {
    this.timeout(1_200_000);
    await build(`--tag=${IMAGE}`, `--tag=${IMAGE}:${VERSION}`);
  },
};

/**
 * Builds the image with the Dockerfile, as a release does. Nothing comes from podman's cache, because the cache finds
 * layers by their history, and the history would contain random ids.
 */
export async function build(...more: string[]): Promise<void> {
  const started = performance.now();
  const { stdout: revision } = await promisify(execFile)("git", ["rev-parse", "HEAD"]);
  // By its tag: if no registry is reached, the image of Node is made here, and its digest is another one.
  const facts = { NODE_IMAGE: (await nodeImage()).name, VERSION, REVISION: revision.trim() };
  const args = Object.entries(facts).map(([name, value]) => `--build-arg=${name}=${value}`);
  const options = [
    "--quiet",
    "--format=docker",
    "--omit-history",
    "--network=host",
    `--timestamp=${EPOCH}`,
    ...(await npmSettings()),
  ];
  await podman("build", ...options, ...args, ...more, ".");
  print(`built in ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

/** Prints a line in the tests' report. */
export function print(line: string): void {
  process.stdout.write(`    ${line}\n`);
}

/** Returns the options that give the build this machine's npm registry, and its certificates if they are not the usual ones. */
async function npmSettings(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "onboarding-npm-"));
  const npmrc = join(folder, "npmrc");
  const settings = [`registry=${await npmConfig("registry")}`];
  const more = [`--secret=id=npmrc,src=${npmrc}`];
  const file = process.env["NODE_EXTRA_CA_CERTS"] ?? process.env["SSL_CERT_FILE"] ?? (await npmConfig("cafile"));
  if (file !== "null" && file !== "") {
    const all = join(folder, "certificates.pem");
    await writeFile(all, [...rootCertificates, await readFile(file, "utf8")].join("\n"));
    settings.push(`cafile=${CERTIFICATES}`);
    more.push(`--volume=${all}:${CERTIFICATES}:ro`);
  }
  await writeFile(npmrc, `${settings.join("\n")}\n`);
  return more;
}

async function npmConfig(name: string): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["config", "get", name]);
  return stdout.trim();
}
