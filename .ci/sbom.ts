/** A step of the Dockerfile: prints what the image contains as CycloneDX JSON. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundle } from "../src/dev/bundle.ts";

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly group?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

/** Matches the paths of sources in the typesetter's native part, which it has for error messages. They name its crates. */
const CRATE = /\/src\/index\.crates\.io-\w+\/([\w-]+?)-(\d+\.\d+\.\d+[\w.+-]*)\/|\/(\w{7})\/crates\/([\w-]+)\//g;
const PAGES = { entryPoints: ["src/site/browser/*.ts", "src/site/browser/*.css"], outdir: "/", format: "esm" as const };

/** Returns the SBOM of the npm packages that ship: production packages, and those with code in the bundle or the pages. */
export async function npmPackages(...options: string[]): Promise<{ components: Component[] }> {
  const list = (...more: string[]) => {
    const args = ["--flatten-components", "--output-reproducible", ...options, ...more];
    const printed = execFileSync("node_modules/.bin/cyclonedx-npm", args, { encoding: "utf8", maxBuffer: 2 ** 26 });
    return JSON.parse(printed) as { components: Component[] };
  };
  const sbom = list("--omit=dev");
  const { metafile } = await build({ ...PAGES, bundle: true, write: false, metafile: true });
  const files = [...Object.keys(metafile.inputs), ...(await bundle(mkdtempSync(join(tmpdir(), "sbom-"))))];
  const folders = new Set(files.map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0]));
  const known = new Set(sbom.components.map(({ purl }) => purl));
  const isBundled = ({ properties = [] }: Component) => properties.some(({ value }) => folders.has(value));
  sbom.components.push(...list().components.filter((found) => isBundled(found) && !known.has(found.purl)));
  return sbom;
}

/** Returns the crates in the typesetter's native part: as `name@version`, or as `name@commit` if they are typst's own. */
export function crates(components: readonly Component[]): string[] {
  const { group, name } = components.find((found) => found.name.startsWith("typst-ts-node-compiler-")) as Component;
  const folder = `node_modules/${group}/${name}`;
  const { main } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as { main: string };
  const found = readFileSync(`${folder}/${main}`, "latin1").matchAll(CRATE);
  return [
    ...new Set(Array.from(found, ([, crate, version, commit, own]) => `${crate ?? own}@${version ?? commit}`)),
  ].toSorted();
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  void npmPackages().then((sbom) => {
    const show = "--showformat=deb/debian/${Package}@${Version}?arch=${Architecture}\n";
    const debian = execFileSync("dpkg-query", ["--show", show], { encoding: "utf8" }).trim().split("\n");
    const more = [`generic/node@${process.versions.node}`, ...crates(sbom.components).map((crate) => `cargo/${crate}`)];
    for (const line of [...more, ...debian]) {
      const [name = "", version = ""] = line.replace(/^.*\/|\?.*$/g, "").split("@");
      sbom.components.push({ type: "library", name, version, purl: `pkg:${line.replaceAll("+", "%2B")}` });
    }
    console.log(JSON.stringify(sbom, undefined, 1));
  });
