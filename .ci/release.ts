/**
 * `npm run release -- VERSION [--image NAME@sha256:DIGEST] [--dry-run]`: takes the next step of a release, and prints what
 * follows. CONTRIBUTING.md lists the steps. The commits show which steps are done, so an interrupted step can be repeated.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

const PRODUCTION = "k8s/overlays/production/kustomization.yaml";
const RELEASE = "test/upgrade/release.json";
const IMAGE = /^([a-z0-9][a-z0-9.-]*(?::\d+)?(?:\/[a-z0-9._-]+)+)@(sha256:[0-9a-f]{64})$/;

interface Release {
  version: string;
  commit: string;
}

/** Prints a message and exits with 1. Nothing has been written yet. */
function refuse(message: string): never {
  console.error(message);
  process.exit(1);
}

const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
const read = (file: string) => readFileSync(file, "utf8");
const versionOf = (file: string) => (JSON.parse(read(file)) as { version: string }).version;
const isNewer = (version: string, than: string) => version.localeCompare(than, "en", { numeric: true }) > 0;

function edit(file: string, ...replacements: readonly (readonly [RegExp, string])[]): void {
  const text = replacements.reduce((before, [pattern, by]) => {
    if (before.search(pattern) === -1) throw new Error(`${file} has nothing that matches ${pattern}.`);
    return before.replace(pattern, by);
  }, read(file));
  writeFileSync(file, text);
}

/** Sets the version in every file that names it. */
function setVersion(version: string): void {
  for (const folder of [".", "src/client"])
    execFileSync("npm", ["version", "--no-git-tag-version", "--prefix", folder, version], { stdio: "ignore" });
  const names = /(candidate-onboarding-service:|app\.kubernetes\.io\/version: |newTag: )\d+\.\d+\.\d+(-dev)?/g;
  edit("src/client/README.md", [/(candidate-onboarding-client-)\d+\.\d+\.\d+(-dev)?(?=\.tgz)/, `$1${version}`]);
  for (const file of git("ls-files", "k8s").split("\n")) writeFileSync(file, read(file).replace(names, `$1${version}`));
}

/** Names the image in the production overlay: by its digest, or with the placeholders of a version under work. */
function setImage(name: string | undefined, digest: string | undefined): void {
  edit(
    PRODUCTION,
    [
      /^ {4}(# )?newName: .*$/m,
      `    ${name === undefined ? "# newName: registry.example.com/candidate-onboarding-service" : `newName: ${name}`}`,
    ],
    [
      /^ {4}(# )?digest: .*$/m,
      `    ${digest === undefined ? "# digest: sha256:… # a release writes it" : `digest: ${digest}`}`,
    ],
  );
}

function commit(message: string): void {
  git("add", "--update");
  if (git("status", "--porcelain", "--untracked-files=no") !== "") git("commit", "--quiet", `--message=${message}`);
}

const { values, positionals } = parseArgs({
  options: { image: { type: "string" }, "dry-run": { type: "boolean" }, "no-image": { type: "boolean" } },
  allowPositionals: true,
});
const [version = ""] = positionals;
if (!/^\d+\.\d+\.\d+$/.test(version) || positionals.length > 1)
  refuse("usage: npm run release -- VERSION [--image NAME@sha256:DIGEST | --no-image] [--dry-run]");
const [, name, digest] = IMAGE.exec(values.image ?? "") ?? [];
if (values.image !== undefined && digest === undefined)
  refuse(`--image must be NAME@sha256:DIGEST, with the registry in the name: ${values.image}`);
if (git("branch", "--show-current") !== "main") refuse("Release from the branch main.");
if (git("status", "--porcelain") !== "") refuse("Commit, stash or discard your changes first: git status.");

const current = versionOf("package.json");
const last = JSON.parse(read(RELEASE)) as Release;
const tag = `v${version}`;
const isTagged = git("tag", "--list", tag) !== "";
const heading = /^## (\S+) \(unreleased\)\n([^]*?)(?=^## |$(?![^]))/m.exec(read("CHANGELOG.md"));

if (last.version === version) console.log(`${version} is released: ${last.commit}. Push it: git push --follow-tags.`);
else if (!isNewer(version, last.version)) refuse(`${version} is not newer than the last release, ${last.version}.`);
else if (current !== version) begin();
else finish();

/** The first step: a commit that has the version. The image is built from it. */
function begin(): void {
  if (!current.endsWith("-dev")) refuse(`${current} is under release. Finish it first: npm run release -- ${current}`);
  if (isNewer(current.replace("-dev", ""), version)) refuse(`${version} is older than ${current} in package.json.`);
  if (isTagged) refuse(`The tag ${tag} exists already, and package.json has ${current}.`);
  if (heading === null) refuse("CHANGELOG.md has no heading `## VERSION (unreleased)`.");
  if (!/^- /m.test(heading[2] ?? "")) refuse(`CHANGELOG.md has no entry under ${heading[1]}.`);
  if (values.image !== undefined) refuse("The image is built from the commit that this step makes: leave out --image.");
  console.log(`${current} becomes ${version}: package.json, the lock file, the client, CHANGELOG.md and k8s/.`);
  if (values["dry-run"]) return;
  setVersion(version);
  edit("CHANGELOG.md", [/^## \S+ \(unreleased\)$/m, `## ${version} (${new Date().toISOString().slice(0, 10)})`]);
  commit(`Version ${version}`);
  console.log("Now test this commit: npm run test:all. Then build, push and sign its image (src/docs/upgrades.md).");
  console.log(`Then: npm run release -- ${version} --image NAME@sha256:DIGEST (or --no-image, if you publish none)`);
}

/** The second step: the image's digest, the tag, and the next version under work. */
function finish(): void {
  if (values.image === undefined && !values["no-image"] && !isTagged)
    refuse(`Give the image that was built from this commit: --image NAME@sha256:DIGEST, or --no-image.`);
  const next = version.replace(/\.(\d+)\.\d+$/, (_, minor: string) => `.${Number(minor) + 1}.0`);
  console.log(`${tag} names ${values.image ?? `the image by its tag, ${version}`}. Then ${next}-dev begins.`);
  if (values["dry-run"]) return;
  if (!isTagged) {
    if (digest !== undefined) setImage(name, digest);
    commit(`The image of ${version}`);
    git("tag", "--annotate", `--message=${version}`, tag);
  } else if (git("rev-parse", `${tag}^{commit}`) !== git("rev-parse", "HEAD"))
    refuse(`${tag} is not this commit. Reset main to it, or delete the tag.`);
  const released: Release = { version, commit: git("rev-parse", "HEAD") };
  setVersion(`${next}-dev`);
  setImage(undefined, undefined);
  edit("CHANGELOG.md", [/^(?=## )/m, `## ${next} (unreleased)\n\n`]);
  writeFileSync(
    RELEASE,
    `${JSON.stringify(released)
      .replace(/([{,:])/g, "$1 ")
      .replace("}", " }")}\n`,
  );
  commit(`${next}-dev`);
  console.log("Released. Push it: git push --follow-tags");
}
