import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";

/** The rules of the code's shape, read from its imports. Each says which files it is about and what they may not import. */
const RULES: { rule: string; files: RegExp; except?: RegExp; mayNotImport: RegExp }[] = [
  {
    rule: "only api/, http/, app.ts and the compose root know Koa",
    files: /^src\//,
    except: /^src\/(api\/|http\/|app\.ts|compose\.ts)/,
    mayNotImport: /^(koa|@koa\/router)$/,
  },
  {
    rule: "only stores and infra/ know MongoDB",
    files: /^src\//,
    except: /^src\/(infra\/|dev\/|.*\/(store|stored|.*-store)\.ts$)/,
    mayNotImport: /^mongodb$/,
  },
  {
    rule: "a service, a store or a state knows no HTTP",
    files: /\/(service|store|stored|state|record|render|feed)\.ts$/,
    except: /^src\/http\//,
    mayNotImport: /^src\/(api|http)\/(?!entity-tags\.ts$)/,
  },
  { rule: "only infra/ knows ioredis", files: /^src\//, except: /^src\/(infra|dev)\//, mayNotImport: /^ioredis$/ },
  {
    rule: "the service needs nothing that only development needs",
    files: /^src\//,
    except: /^src\/dev\//,
    mayNotImport: /^src\/dev\/(?!servers-file\.ts$)|memory-server|^(mocha|chai|fast-check|autocannon)$/,
  },
  { rule: "endpoints go to services, not to stores", files: /\/endpoints\.ts$/, mayNotImport: /\/store\.ts$/ },
  { rule: "nothing imports the compose root but what starts the process", files: /^src\//, except: /^src\/(process\/replica\.ts|dev\/)/, mayNotImport: /^src\/compose\.ts$/ },
];

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts")).map((name) => join(folder, name));
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^(?:import|export)\s[^;]*?from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm)]
    .map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? "")
    .map((name) => (name.startsWith(".") ? join(dirname(file), name) : name));
}

describe("the shape of the code", () => {
  const files = filesUnder("src");

  it("reads the imports at all", () => {
    expect(importsOf("src/app.ts")).to.include.members(["koa", "src/api/mount.ts"]);
  });

  for (const { rule, files: about, except, mayNotImport } of RULES) {
    it(rule, () => {
      const concerned = files.filter((file) => about.test(file) && !except?.test(file));
      const breaches = concerned.flatMap((file) => importsOf(file).filter((name) => mayNotImport.test(name)).map((name) => `${file} imports ${name}`));
      expect(concerned).not.to.have.length(0);
      expect(breaches).to.deep.equal([]);
    });
  }

  it("keeps every file under 250 lines", () => {
    const long = [...files, ...filesUnder("test")].filter((file) => readFileSync(file, "utf8").split("\n").length > 250);
    expect(long).to.deep.equal([]);
  });
});
