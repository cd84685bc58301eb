import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";

describe("versions", () => {
  const version = (file: string) => (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
  const headings = [...readFileSync("CHANGELOG.md", "utf8").matchAll(/^## (.*)$/gm)].map(([, text = ""]) => text);

  it("are headings of CHANGELOG.md with the date of their release, and the first one is package.json's", () => {
    const isReleased = !version("package.json").endsWith("-dev");
    const [first = "", ...released] = headings;
    expect(first).to.match(isReleased ? /^\S+ \(\d{4}-\d\d-\d\d\)$/ : /^\S+ \(unreleased\)$/);
    expect(first.split(" ")[0]).to.equal(version("package.json").replace("-dev", ""));
    for (const heading of released) expect(heading).to.match(/^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$/);
  });

  it("are the same in package.json, the lock file, the client and the manifests", () => {
    const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, object> };
    expect(packages[""]).to.include({ version: version("package.json") });
    for (const file of ["package-lock.json", "src/client/package.json"])
      expect(version(file), file).to.equal(version("package.json"));
    const manifests = readdirSync("k8s", { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".yaml"),
    );
    const names = /(?:candidate-onboarding-service:|app\.kubernetes\.io\/version: |newTag: )(\d\S+)/g;
    const named = manifests.flatMap((file) => [...readFileSync(`k8s/${file}`, "utf8").matchAll(names)]);
    expect(new Set(named.map(([, found]) => found))).to.deep.equal(new Set([version("package.json")]));
  });

  it("of the upgrade suite is the release before the version under work", () => {
    const released = headings.slice(1).map((heading) => heading.split(" ")[0]);
    expect(version("test/upgrade/release.json")).to.equal(released[0]);
  });
});
