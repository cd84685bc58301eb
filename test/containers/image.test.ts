import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect } from "chai";
import { filesOf, FONTS } from "../../src/pack/fonts.ts";
import { nodeImage } from "./support/base-images.ts";
import { bundle } from "../../src/dev/bundle.ts";
import { build, IMAGE, print, VERSION } from "./support/image.ts";
import { podman } from "./support/podman.ts";
import { differences } from "./support/differences.ts";

/** Maximum size that the image adds to its base image. 87 MB are packages, 11 MB the bundle and the pages. */
const MAX_ADDED_BYTES = 100e6;

/** The packages whose code is in the pages of /docs and /console. */
const IN_PAGES = ["lit-html", "minisearch", "swagger-ui-dist"];

/** Whether the suite runs in its large form (`npm run test:containers -- --full`), which builds the image twice. */
const FULL = process.env["CONTAINERS_FULL"] === "1";

/** First version of podman that leaves random ids out of images built with `--timestamp`. */
const BUILDS_ONE_ID = "5.6.0";

interface ImageInspected {
  Id: string;
  Size: number;
  Created: string;
  Architecture: string;
  RootFS: { Layers: string[] };
  History: object[] | null;
  Config: { User: string; Env: string[]; Labels: Record<string, string>; ExposedPorts: Record<string, object> };
  Healthcheck: { Test: string[] };
}

interface Sbom {
  components: { group?: string; name: string; version: string; purl: string }[];
}

interface LockFile {
  packages: Record<string, { version?: string; dev?: boolean }>;
}

describe("the image", function () {
  this.timeout(1_200_000);
  let image: ImageInspected;
  /** A copy of the image's /app, and the path of every file and folder in it. */
  let app: string;
  let paths: string[];
  /** What the image's build makes of the sources, made once more on this machine, and the files that are in it. */
  const dist = mkdtempSync(join(tmpdir(), "onboarding-dist-"));
  let sources: string[];
  before(async () => {
    sources = await bundle(dist);
    image = await inspectImage(IMAGE);
    app = await copyOfApp();
    paths = readdirSync(app, { recursive: true, encoding: "utf8" });
  });

  async function inspectImage(name: string): Promise<ImageInspected> {
    const [inspected] = JSON.parse(await podman("image", "inspect", name)) as [ImageInspected];
    return inspected;
  }

  async function copyOfApp(): Promise<string> {
    const folder = join(await mkdtemp(join(tmpdir(), "onboarding-image-")), "app");
    await podman("create", "--name=opened", IMAGE);
    await podman("cp", "opened:/app", folder);
    await podman("rm", "opened");
    return folder;
  }

  const readLock = (file: string) => (JSON.parse(readFileSync(file, "utf8")) as LockFile).packages;
  const withExtension = (...extensions: string[]) =>
    paths.filter((path) => extensions.some((extension) => path.endsWith(extension)));

  it("is small", async () => {
    const { name: base } = await nodeImage();
    const added = image.Size - (await inspectImage(base)).Size;
    print(
      `adds ${(added / 1e6).toFixed(1)} MB to ${base}; ${(image.Size / 1e6).toFixed(0)} MB with this machine's ${base}`,
    );
    expect(added).to.be.lessThan(MAX_ADDED_BYTES);
  });

  it("holds the compiled service, its scripts, its packages, and nothing else of the project", () => {
    expect(paths.filter((path) => !path.includes("/"))).to.have.members([
      "LICENSE",
      "NOTICE",
      "dist",
      "lua",
      "node_modules",
      "package.json",
      "sbom.cdx.json",
      "src",
    ]);
    const read = ["src/pack", "src/pack/pack.typ"];
    expect(paths.filter((path) => path.startsWith("src/"))).to.have.members(read);
    const own = paths.filter((path) => !path.startsWith("node_modules/"));
    expect(own).to.include.members(["dist/main.js", "dist/admin/main.js", "lua/charge.lua"]);
    expect(own.filter((path) => /(^|\/)(dev|test|\.[^/]*)(\/|$)|\.(ts|map)$/.test(path))).to.deep.equal([]);
  });

  it("holds the packages that the service needs, and none that only development needs", () => {
    const locked = readLock("package-lock.json");
    const installed = readLock(join(app, "node_modules/.package-lock.json"));
    const needed = Object.keys(locked).filter((path) => path !== "" && !locked[path]?.dev);
    expect(needed).to.include.members(Object.keys(installed));
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    expect(Object.keys(installed)).to.include.members(Object.keys(dependencies).map((name) => `node_modules/${name}`));
    for (const name of ["typescript", "mocha", "tsx", "oxlint", "prettier", ".bin/tsc"])
      expect(paths, name).not.to.include(`node_modules/${name}`);
    expect(withExtension(".ts", ".mts", ".cts", ".map")).to.deep.equal([]);
  });

  it("holds the fonts that the pack uses, and no other", () => {
    const files = filesOf(FONTS);
    expect(withExtension(".ttf", ".otf")).to.have.members(files.map((file) => relative(".", file)));
    expect(files).to.have.length.greaterThan(15);
  });

  /** Runs a shell command in the image. @returns the lines that it prints. */
  async function inside(command: string): Promise<string[]> {
    const printed = await podman("run", "--rm", "--network=none", "--user=0", IMAGE, "sh", "-c", command);
    return printed === "" ? [] : printed.split("\n");
  }

  /** Returns the components of a kind in the SBOM, as `name@version`. */
  function listed(kind: string): string[] {
    const { components } = JSON.parse(readFileSync(join(app, "sbom.cdx.json"), "utf8")) as Sbom;
    const ofKind = components.filter(({ purl }) => purl.startsWith(`pkg:${kind}/`));
    const ids = ofKind.map(({ group, name, version }) => `${group === undefined ? "" : `${group}/`}${name}@${version}`);
    return [...new Set(ids)];
  }

  it("lists every package of npm in its SBOM, fonts and native part too, and none that is not there", async () => {
    const manifests = paths.filter((path) => /^(.*\/)?node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
    const installed = manifests.map((path) => {
      const { name, version } = JSON.parse(readFileSync(join(app, path), "utf8")) as { name: string; version: string };
      return `${name}@${version}`;
    });
    const nameOf = (id: string) => id.slice(0, id.lastIndexOf("@"));
    expectSame(
      listed("npm").filter((id) => !IN_PAGES.includes(nameOf(id))),
      installed,
    );
    const bundled = sources
      .map((file) => /.*node_modules\/((@[^/]+\/)?[^/]+)/.exec(file)?.[1])
      .filter((name) => name !== undefined);
    const names = listed("npm").map(nameOf);
    expect([...bundled, ...IN_PAGES].filter((name) => !names.includes(name))).to.deep.equal([]);
    expect(bundled).to.include("koa");
  });

  it("lists Node, every package of Debian and every crate of the typesetter in its SBOM, and no other", async () => {
    expectSame(listed("deb"), await inside("dpkg-query --show --showformat='${Package}@${Version}\\n'"));
    expect(listed("generic")).to.deep.equal([`node@${(await inside("node --version"))[0]?.slice(1)}`]);
    const [native = ""] = withExtension(".node");
    // It contains paths of sources: those of published crates have the version, those of typst's own have the commit.
    const code = readFileSync(join(app, native), "latin1");
    const published = code.matchAll(/index\.crates\.io-\w+\/([\w.+-]+)\//g);
    const own = code.matchAll(/\/(\w{7})\/crates\/([\w-]+)\//g);
    const crates = [
      ...Array.from(published, ([, crate = ""]) => crate),
      ...Array.from(own, ([, commit, crate]) => `${crate}-${commit}`),
    ];
    expectSame(
      listed("cargo").map((id) => id.replace("@", "-")),
      crates,
    );
    expect(listed("cargo").join()).to.contain("typst-layout@").and.to.contain("tinymist-world@");
  });

  it("has the licence of each component in NOTICE, and no other, and its own in LICENSE", () => {
    expect(readFileSync(join(app, "LICENSE"), "utf8")).to.equal(readFileSync("LICENSE", "utf8"));
    const notice = readFileSync(join(app, "NOTICE"), "utf8");
    // Each section has the names that a text applies to, one a line, and the text.
    const sections = notice.matchAll(/^={80}\n((?:.+\n)+?)-{80}\n(?=.*\w)/gm);
    const named = Array.from(sections, ([, names = ""]) => names.trim().split("\n")).flat();
    // The native part is named by its crates.
    const packages = listed("npm").filter((id) => !id.includes("typst-ts-node-compiler-"));
    const needed = [...packages, ...listed("cargo").map((id) => `crate ${id}`)];
    expectSame(named, needed);
    expect(paths.filter((path) => /^node_modules\/koa\/LICENSE$/.test(path))).to.have.length(1);
  });

  it("has the Node that the Dockerfile names, no package manager of it, and no setuid file", async () => {
    const { name: base } = await nodeImage();
    expect(await inside("node --version")).to.deep.equal([`v${/:([\d.]+)-/.exec(base)?.[1]}`]);
    expect(await inside("find / -xdev -type f -perm /6000")).to.deep.equal([]);
    const managers = "-name npm -o -name npx -o -name corepack -o -name 'yarn*'";
    expect(await inside(`find / -xdev '(' ${managers} ')' -not -path '/proc/*'`)).to.deep.equal([]);
  });

  it("runs as user 1000, by number, and carries no settings but NODE_ENV and ADMIN_ACTOR_REQUIRED", () => {
    expect(image.Config.User).to.equal("1000:1000");
    const own = image.Config.Env.filter((entry) => !/^(PATH|NODE_VERSION|YARN_VERSION)=/.test(entry));
    expect(own).to.deep.equal(["NODE_ENV=production", "ADMIN_ACTOR_REQUIRED=true"]);
  });

  it("says what it is", () => {
    expect(image.Config.Labels).to.include({
      "org.opencontainers.image.title": "Candidate Onboarding Service",
      "org.opencontainers.image.licenses": "MIT",
      "org.opencontainers.image.version": VERSION,
    });
    expect(image.Config.Labels["org.opencontainers.image.revision"]).to.match(/^[0-9a-f]{40}$/);
    expect(Object.keys(image.Config.ExposedPorts)).to.have.members(["8080/tcp", "9090/tcp"]);
    expect(image.Healthcheck.Test[0]).to.equal("CMD");
  });

  it("holds the code that this machine bundles from the same sources, byte for byte", async () => {
    expect(await differences([join(app, "dist"), dist], ["--exclude=pages.bin"])).to.deep.equal([]);
  });

  it("is the same when it is built again from nothing", async function () {
    if (!FULL) this.skip(); // takes as long as all other tests of the image
    await build("--no-cache", "--tag=again");
    expect(await differentFiles(IMAGE, "again")).to.deep.equal([]);
    const again = await inspectImage("again");
    const contents = ({ Created, Architecture, RootFS, History, Config, Healthcheck }: ImageInspected) => ({
      Created,
      Architecture,
      RootFS,
      History,
      Config,
      Healthcheck,
    });
    expect(contents(again)).to.deep.equal(contents(image));
    const version = (await podman("--version")).replace(/^podman version /, "");
    if (version.localeCompare(BUILDS_ONE_ID, "en", { numeric: true }) >= 0) expect(again.Id).to.equal(image.Id);
    else print("the digest is not compared: podman before 5.6 adds the random id of the build's container");
  });

  /** Returns a line for each file that differs between two images, or that only one of them has. */
  async function differentFiles(...names: [string, string]): Promise<string[]> {
    const roots = await Promise.all(names.map((name) => podman("image", "mount", name)));
    const found = await differences(roots);
    await podman("image", "unmount", ...names);
    return found.map((line) => roots.reduce((text, root, n) => text.replaceAll(root, `${names[n]}:`), line));
  }
});

/** Expects the same names in both lists. If they differ, the message has only the difference. */
function expectSame(listed: readonly string[], there: readonly string[]): void {
  const missing = [...new Set(there)].filter((name) => !listed.includes(name));
  const tooMany = listed.filter((name) => !there.includes(name));
  expect({ missing, tooMany }).to.deep.equal({ missing: [], tooMany: [] });
}
