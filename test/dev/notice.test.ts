import { readFileSync } from "node:fs";
import { expect } from "chai";

interface LockFile {
  packages: Record<string, { version?: string; dev?: boolean; cpu?: string[] }>;
}

describe("NOTICE", () => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as LockFile;
  const locked = Object.entries(packages).map(([path, { version, dev, cpu }]) => ({
    id: `${path.replace(/^.*node_modules\//, "")}@${version}`,
    isProduction: path !== "" && dev !== true,
    isForOnePlatform: cpu !== undefined,
  }));
  const named: string[] = readFileSync("NOTICE", "utf8").match(/^(@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+\S*$/gm) ?? [];

  it("names every package of production with its version (`npm run generate:notice` writes it)", () => {
    // The native part of the typesetter is a package for each platform. The crates in it are named instead.
    const needed = locked.filter(({ isProduction, isForOnePlatform }) => isProduction && !isForOnePlatform);
    expect(needed).to.have.length.greaterThan(100);
    expect(needed.map(({ id }) => id).filter((id) => !named.includes(id))).to.deep.equal([]);
  });

  it("names no package that is not installed", () => {
    const installed = new Set(locked.map(({ id }) => id));
    expect(named.filter((id) => !installed.has(id))).to.deep.equal([]);
  });
});
