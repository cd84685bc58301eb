import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { parse } from "yaml";

/** What a release reads and writes. */
const FILES =
  ".ci k8s src/client/package.json src/client/README.md test/upgrade/release.json package.json package-lock.json CHANGELOG.md tsconfig.json";
const DIGEST = `sha256:${"5a".repeat(32)}`;
const PRODUCTION = "k8s/overlays/production/kustomization.yaml";

interface Overlay {
  images: object[];
  labels: { pairs: Record<string, string> }[];
}

describe("npm run release", function () {
  this.timeout(120_000);
  let folder: string;
  const read = (file: string) => readFileSync(join(folder, file), "utf8");
  const json = (file: string) => JSON.parse(read(file)) as { version: string; commit?: string };
  const overlay = () => parse(read(PRODUCTION)) as Overlay;

  async function git(...args: string[]): Promise<string> {
    return (await promisify(execFile)("git", args, { cwd: folder })).stdout.trim();
  }

  /** @returns what it printed, or the error that it ended with. */
  async function release(...args: string[]): Promise<string> {
    const program = ["--import", "tsx", ".ci/release.ts", ...args];
    return promisify(execFile)(process.execPath, program, { cwd: folder }).then(
      ({ stdout }) => stdout,
      ({ code, stderr }: { code: number; stderr: string }) => `exit ${code}: ${stderr}`,
    );
  }

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "release-")));
    for (const file of FILES.split(" ")) cpSync(file, join(folder, file), { recursive: true });
    symlinkSync(realpathSync("node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, ".gitignore"), "node_modules\n");
    writeFileSync(
      join(folder, "package.json"),
      read("package.json").replace(/"version": ".*"/, '"version": "0.2.0-dev"'),
    );
    writeFileSync(join(folder, "test/upgrade/release.json"), '{ "version": "0.1.0", "commit": "20982d5" }\n');
    const entries = "# Changes\n\n## 0.2.0 (unreleased)\n\n### 2026-11-28\n\n- One.\n\n## 0.1.0 (2026-11-21)\n";
    writeFileSync(join(folder, "CHANGELOG.md"), entries);
    await git("init", "--quiet", "--initial-branch=main");
    await git("config", "user.name", "Test");
    await git("config", "user.email", "test@example.com");
    await commit("Begin");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function commit(message: string): Promise<void> {
    await git("add", "--all");
    await git("commit", "--quiet", "--message", message);
  }

  it("commits the version, then the image by its digest with a tag, then the next version under work", async () => {
    expect(await release("0.2.0"))
      .to.contain("0.2.0-dev becomes 0.2.0")
      .and.to.contain("npm run test:all");
    const today = new Date().toISOString().slice(0, 10);
    expect(read("CHANGELOG.md")).to.match(new RegExp(`^## 0\\.2\\.0 \\(${today}\\)$`, "m"));
    for (const file of ["package.json", "package-lock.json", "src/client/package.json"])
      expect(json(file).version, file).to.equal("0.2.0");
    expect(read("src/client/README.md")).to.contain("/candidate-onboarding-client-0.2.0.tgz");
    expect(read("k8s/base/deployment.yaml")).to.contain("image: candidate-onboarding-service:0.2.0\n");
    const built = await git("rev-parse", "HEAD");

    expect(await release("0.2.0", `--image=registry.example.com:5000/cos/onboarding@${DIGEST}`)).to.contain("Released");
    const released = await git("rev-parse", "v0.2.0^{commit}");
    expect(await git("rev-parse", "v0.2.0~1"), "the image is built from the commit before").to.equal(built);
    expect(json("package.json").version).to.equal("0.3.0-dev");
    expect(json("test/upgrade/release.json")).to.deep.equal({ version: "0.2.0", commit: released });
    expect(read("CHANGELOG.md")).to.match(/^# Changes\n\n## 0\.3\.0 \(unreleased\)\n\n## 0\.2\.0 \(/);
    expect(overlay().images).to.deep.equal([{ name: "candidate-onboarding-service", newTag: "0.3.0-dev" }]);
    expect(await git("status", "--porcelain")).to.equal("");

    await git("checkout", "--quiet", "v0.2.0");
    const image = { newName: "registry.example.com:5000/cos/onboarding", newTag: "0.2.0", digest: DIGEST };
    expect(overlay().images).to.deep.equal([{ name: "candidate-onboarding-service", ...image }]);
    expect(overlay().labels[0]?.pairs).to.deep.equal({ "app.kubernetes.io/version": "0.2.0" });
  });

  it("can be repeated, and goes on where it was interrupted", async () => {
    await release("0.2.0");
    const built = await git("rev-parse", "HEAD");
    expect(await release("0.2.0")).to.contain("--image");
    expect(await git("rev-parse", "HEAD")).to.equal(built);
    await git("tag", "v0.2.0"); // interrupted after the tag
    expect(await release("0.2.0")).to.contain("Released");
    expect(json("test/upgrade/release.json")).to.deep.equal({ version: "0.2.0", commit: built });
    const after = await git("rev-parse", "HEAD");
    expect(await release("0.2.0")).to.contain("0.2.0 is released");
    expect(await git("rev-parse", "HEAD")).to.equal(after);
  });

  it("releases without an image if it is told so, and changes nothing in a dry run", async () => {
    const before = await git("rev-parse", "HEAD");
    expect(await release("1.0.0", "--dry-run")).to.contain("0.2.0-dev becomes 1.0.0");
    expect([await git("rev-parse", "HEAD"), await git("status", "--porcelain")]).to.deep.equal([before, ""]);
    await release("1.0.0");
    expect(await release("1.0.0", "--no-image")).to.contain("Released");
    expect(json("package.json").version).to.equal("1.1.0-dev");
    expect(await git("show", `v1.0.0:${PRODUCTION}`))
      .to.match(/newTag: 1\.0\.0$/m)
      .and.not.to.match(/^ *digest:/m);
  });

  it("refuses what is not ready, and then has written nothing", async () => {
    expect(await release("0.1.0")).to.contain("0.1.0 is released");
    expect(await release("0.0.9")).to.match(/^exit 1: 0\.0\.9 is not newer/);
    expect(await release("0.1.5")).to.match(/^exit 1: 0\.1\.5 is older than 0\.2\.0-dev/);
    expect(await release("next")).to.match(/^exit 1: usage/);
    expect(await release("0.2.0", "--image=onboarding:0.2.0")).to.match(/^exit 1: --image must be/);
    writeFileSync(join(folder, "README.md"), "x");
    expect(await release("0.2.0")).to.match(/^exit 1: Commit, stash or discard/);
    writeFileSync(
      join(folder, "CHANGELOG.md"),
      "# Changes\n\n## 0.2.0 (unreleased)\n\n## 0.1.0 (2026-11-21)\n\n- Old.\n",
    );
    await commit("Nothing new");
    expect(await release("0.2.0")).to.match(/^exit 1: CHANGELOG\.md has no entry under 0\.2\.0/);
    await git("checkout", "--quiet", "-b", "side");
    expect(await release("0.2.0")).to.match(/^exit 1: Release from the branch main/);
    expect(await git("status", "--porcelain")).to.equal("");
    expect(await git("tag")).to.equal("");
  });
});
