/**
 * Writes NOTICE: the licences of everything that the image adds to its base image. Run `npm run generate:notice` on Linux
 * after a production package has changed. It needs cargo.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { crates, npmPackages } from "./sbom.ts";

const INTRODUCTION = `The licences of what is in the image of the Candidate Onboarding Service, beside its own in LICENSE. \`npm run
generate:notice\` writes this file.

- The packages of npm that are installed, or whose code is in the bundle or in the pages.
- The crates of the typesetter, @myriaddreamin/typst-ts-node-compiler. Its native part is built from them. Of a crate with
  several licences to choose from, this is one.

The base image has the licence of Node in /usr/local/LICENSE, and those of Debian's packages in /usr/share/doc.
`;
const LICENCE = /^(licen[cs]e|copying|notice|unlicense)/i;
/** Licences of withdrawn versions, which cargo does not download. */
const WITHDRAWN: Record<string, string> = { "spin@0.9.8": "MIT" };

/** The texts, and the names of the components that each applies to. The key is the text without its layout. */
const texts = new Map<string, { text: string; names: string[] }>();

function add(name: string, text: string): void {
  const key = text.replace(/\s+/g, " ").trim();
  const entry = texts.get(key) ?? { text: text.replaceAll("\r", "").trim(), names: [] };
  if (!entry.names.includes(name)) entry.names.push(name);
  texts.set(key, entry);
}

/** Returns the standard text of a licence, for a component that contains no text. */
function standard(id: string): string {
  const file = new URL(`licences/${id}.txt`, import.meta.url);
  if (!existsSync(file)) throw new Error(`Add the text of ${id} to .ci/licences.`);
  return readFileSync(file, "utf8");
}

const { components } = await npmPackages("--gather-license-texts");
for (const { group, name, version, licenses, evidence } of components as unknown as WithTexts[]) {
  if (name.startsWith("typst-ts-node-compiler-")) continue; // one package a platform; the main package has the same licence
  const found = evidence?.licenses ?? [];
  const full = `${group === undefined ? "" : `${group}/`}${name}@${version}`;
  for (const { license } of found) add(full, Buffer.from(license.text.content, "base64").toString());
  if (found.length === 0) add(full, standard(licenses?.[0]?.license?.id ?? full));
}

interface WithTexts {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly licenses?: { license?: { id?: string } }[];
  readonly evidence?: { licenses?: { license: { text: { content: string } } }[] };
}

const all = crates(components);
const published = all.filter((crate) => /@\d+\./.test(crate) && WITHDRAWN[crate] === undefined);
const folder = mkdtempSync(join(tmpdir(), "crates-"));
const wanted = published.map((crate, n) => crate.replace(/(.*)@(.*)/, `c${n} = { package = "$1", version = "=$2" }`));
mkdirSync(join(folder, "src"));
writeFileSync(join(folder, "src/lib.rs"), "");
writeFileSync(
  join(folder, "Cargo.toml"),
  ['[package]\nname = "x"\nedition = "2021"\n[dependencies]', ...wanted, ""].join("\n"),
);
const { status } = spawnSync("cargo", ["fetch", "--quiet"], { cwd: folder, stdio: "inherit" });
if (status !== 0) throw new Error("cargo could not download the crates; its error is above.");
const registries = join(process.env["CARGO_HOME"] ?? join(homedir(), ".cargo"), "registry/src");
for (const crate of published) {
  const source = readdirSync(registries)
    .map((registry) => join(registries, registry, crate.replace("@", "-")))
    .find(existsSync);
  if (source === undefined) throw new Error(`cargo has not unpacked ${crate}.`);
  const files = readdirSync(source, { withFileTypes: true }).filter((file) => file.isFile() && LICENCE.test(file.name));
  const [, terms = ""] = /^license = "(.*)"/m.exec(readFileSync(join(source, "Cargo.toml"), "utf8")) ?? [];
  const isChoice = / OR |\//.test(terms) && files.some(({ name }) => /mit/i.test(name));
  const chosen = files.filter(({ name }) => !isChoice || /mit|notice|copy/i.test(name));
  for (const { name } of chosen) add(`crate ${crate}`, readFileSync(join(source, name), "utf8"));
  if (chosen.length === 0) add(`crate ${crate}`, standard(/MIT|Apache-2\.0|0BSD/.exec(terms)?.[0] ?? terms));
}
for (const crate of all.filter((name) => !published.includes(name)))
  add(`crate ${crate}`, standard(WITHDRAWN[crate] ?? "Apache-2.0")); // typst and tinymist, by their commits

const sections = [...texts.values()].map(({ text, names }) => {
  const sorted = names.toSorted();
  return `${"=".repeat(80)}\n${sorted.join("\n")}\n${"-".repeat(80)}\n${text}\n`;
});
writeFileSync("NOTICE", [INTRODUCTION, ...sections.toSorted()].join("\n"));
