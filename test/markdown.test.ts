import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { slug } from "github-slugger";

const README = "README.md";
const MAX_README_BYTES = 8_192;

/** Returns the Markdown pages in a folder, without those in its subfolders. */
function pagesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

/** The Markdown pages of the repository. */
const PAGES = [
  ...pagesIn("."),
  ...["src", "test", "k8s", "lua"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
      .map((name) => join(folder, name)),
  ),
];

interface Link {
  readonly href: string;
  /** A path from the root of the repository. */
  readonly file: string;
  readonly heading: string;
}

/** Returns the links of a page to other files of the repository and to its own headings. */
function linksOf(page: string): Link[] {
  return Array.from(readFileSync(page, "utf8").matchAll(/\]\(([^()\s]+)\)/g), ([, href = ""]) => href)
    .filter((href) => !/^(?:[a-z]+:|\/)/.test(href)) // a path from the root is one of the service
    .map((href) => {
      const [path = "", heading = ""] = href.split("#");
      return { href, file: path === "" ? page : join(dirname(page), path), heading };
    });
}

function headingsOf(page: string): string[] {
  return Array.from(readFileSync(page, "utf8").matchAll(/^#+ (.+)$/gm), ([, text = ""]) => slug(text));
}

/** Returns the pages to which the links of `pages` lead. A link to a folder leads to every page in it. */
function pagesBehind(pages: readonly string[]): string[] {
  return pages
    .flatMap(linksOf)
    .flatMap(({ file }) => (existsSync(file) && statSync(file).isDirectory() ? pagesIn(file) : [file]));
}

describe("the Markdown pages of the repository", () => {
  it("link to files and headings that exist", () => {
    const broken = PAGES.flatMap((page) =>
      linksOf(page)
        .filter(({ file, heading }) => !existsSync(file) || (heading !== "" && !headingsOf(file).includes(heading)))
        .map(({ href }) => `${page}: ${href}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it(`can all be reached from ${README} in two clicks`, () => {
    const behind = pagesBehind([README]);
    const twice = pagesBehind(behind.filter((file) => file.endsWith(".md")));
    expect(PAGES.filter((page) => ![README, ...behind, ...twice].includes(page))).to.deep.equal([]);
  });

  it(`begin with ${README}, which has at most ${MAX_README_BYTES} bytes`, () => {
    expect(statSync(README).size).to.be.at.most(MAX_README_BYTES);
  });
});
