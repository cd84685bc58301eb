import { expect } from "chai";
import { useService } from "../support/use-service.ts";

/** What is linked to and is no page of the documentation. */
const NOT_A_PAGE = /^\/(openapi\.json|console)$|^\/docs\/assets\//;

describe("the links of the documentation", function () {
  this.timeout(60_000);
  const service = useService();
  /** The pages that can be reached from /docs, by path. */
  const pages = new Map<string, string>();

  before(async () => {
    const waiting = ["/docs"];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (pages.has(path)) continue;
      const response = await fetch(service.url + path);
      expect(response.status, path).to.equal(200);
      const text = await response.text();
      pages.set(path, text);
      waiting.push(
        ...linksOf(path, text)
          .map(({ target }) => target)
          .filter((target) => !NOT_A_PAGE.test(target)),
      );
    }
  });

  it("reach every kind of page", () => {
    expect([...pages.keys()]).to.include.members([
      "/docs",
      "/docs/quick-start",
      "/docs/mirroring",
      "/docs/history",
      "/docs/reference",
      "/docs/reference-candidates",
      "/docs/schemas",
      "/docs/headers",
      "/docs/try",
    ]);
  });

  it("lead to an element that exists, and to pages of this origin or of the web", () => {
    const broken = [...pages].flatMap(([path, text]) =>
      linksOf(path, text)
        .filter(({ target, fragment }) => {
          const page = pages.get(target);
          return page !== undefined && fragment !== "" && !idsOf(page).includes(decodeURIComponent(fragment));
        })
        .map(({ href }) => `${path}: ${href}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it("lead to assets and other responses that exist", async () => {
    const others = new Set([...pages].flatMap(([path, text]) => linksOf(path, text).map(({ target }) => target)));
    for (const path of [...others].filter((target) => NOT_A_PAGE.test(target)))
      expect((await fetch(service.url + path)).status, path).to.equal(200);
  });

  it("never load anything from another origin", () => {
    for (const [path, text] of pages)
      expect(text, path).not.to.match(/(?:src|srcset|rel="stylesheet" href)="(?:https?:)?\/\//);
  });

  it("have targets with ids of their own", () => {
    for (const [path, text] of pages) {
      const ids = idsOf(text);
      expect(ids.length, `${path}: ${ids.filter((id, n) => ids.indexOf(id) !== n).join()}`).to.equal(new Set(ids).size);
    }
  });

  it("stand below headings in order: no level is left out", () => {
    for (const [path, text] of pages) {
      const levels = Array.from(text.matchAll(/<h([1-6])[ >]/g), ([, level]) => Number(level));
      expect(
        levels.filter((level) => level === 1),
        path,
      ).to.have.length(1);
      for (const [n, level] of levels.entries()) expect(level, path).to.be.at.most((levels[n - 1] ?? 0) + 1);
    }
  });
});

interface Link {
  readonly href: string;
  readonly target: string;
  readonly fragment: string;
}

/** Returns the links of a page that stay on this origin. */
function linksOf(path: string, text: string): Link[] {
  return Array.from(text.matchAll(/\s(?:href|src)="([^"]*)"/g), ([, href = ""]) => href)
    .filter((href) => !/^[a-z]+:/.test(href))
    .map((href) => {
      const { pathname, hash } = new URL(href.replaceAll("&amp;", "&"), `http://docs${path}`);
      return { href, target: pathname, fragment: hash.slice(1) };
    });
}

function idsOf(text: string): string[] {
  return Array.from(text.matchAll(/\sid="([^"]*)"/g), ([, id = ""]) => id);
}
