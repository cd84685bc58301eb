import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { circlesIn, type Imports, importsIn, roomOf, roomsOf } from "./graph.ts";

/**
 * The rooms of src/, floor by floor from the top. A room imports only from floors below its own. So a new room, or an import
 * in a new direction, is decided here.
 */
const FLOORS = [
  ["dev"],
  ["main.ts", "admin"],
  ["process"],
  ["compose.ts"],
  ["app.ts", "routes.ts", "sweeps", "grants"],
  ["documents", "references", "outreach", "pack", "limits"],
  ["candidates", "settings"],
  ["api"],
  ["idempotency", "limiter"],
  ["http", "accounts"],
  ["content", "audit"],
  ["infra", "schema", "precondition.ts"],
  ["config.ts", "problems.ts"],
];

/** Further rules: which files each is about, and what those may not import. */
const RULES: { rule: string; files: RegExp; except?: RegExp; mayNotImport: RegExp }[] = [
  {
    rule: "only api/, http/ and app.ts know Koa",
    files: /^src\//,
    except: /^src\/(api\/|http\/|app\.ts)/,
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
    files: /\/(service|store|stored|.*-store|state|.*-state|record|edits|.*-edits|new|render|feed)\.ts$/,
    except: /^src\/(api|http)\//,
    mayNotImport: /^src\/(api|http)\//,
  },
  { rule: "only infra/ knows ioredis", files: /^src\//, except: /^src\/(infra|dev)\//, mayNotImport: /^ioredis$/ },
  {
    rule: "nothing that is deployed needs a package of development",
    files: /^src\//,
    except: /^src\/dev\//,
    mayNotImport: /memory-server|^(mocha|chai|fast-check|tsx|oxc-parser|prettier)$/,
  },
  { rule: "endpoints go to services, not to stores", files: /\/endpoints\.ts$/, mayNotImport: /store\.ts$/ },
  {
    rule: "only the index of routes knows every endpoint",
    files: /^src\//,
    except: /^src\/routes\.ts$/,
    mayNotImport: /\/endpoints\.ts$/,
  },
];

describe("the shape of the code", () => {
  const imports = importsIn("src");
  const rooms = roomsOf(imports);

  it("reads the imports at all: of values, of types and dynamic ones", () => {
    expect(imports.get("src/app.ts")).to.include.members(["koa", "src/api/mount.ts"]);
    expect(imports.get("src/app.ts"), "types").to.include.members(["pino", "src/api/endpoint.ts"]);
    expect(imports.get("src/admin/limits.ts"), "dynamic").to.include("src/admin/watch.ts");
  });

  it("has no circle of files", () => {
    expect(circlesIn(imports)).to.deep.equal([]);
  });

  it("has no circle of folders", () => {
    expect(circlesIn(rooms)).to.deep.equal([]);
  });

  it("finds a circle that is made on purpose", () => {
    const made: Imports = new Map([
      ["src/candidates/service.ts", ["src/documents/service.ts"]],
      ["src/documents/service.ts", []],
      ["src/documents/endpoints.ts", ["src/candidates/schema.ts"]],
      ["src/candidates/schema.ts", []],
    ]);
    expect(circlesIn(made), "the files are no circle").to.deep.equal([]);
    expect(circlesIn(roomsOf(made))).to.deep.equal([["candidates", "documents", "candidates"]]);
    expect(
      circlesIn(
        new Map([
          ["a", ["b"]],
          ["b", ["c"]],
          ["c", ["b"]],
        ]),
      ),
    ).to.deep.equal([["b", "c", "b"]]);
  });

  it("has every room on a floor, and no import that runs up or stays on its floor", () => {
    const floorOf = new Map(
      FLOORS.flatMap((floor, index) => floor.map((room) => [room, FLOORS.length - index] as const)),
    );
    expect([...rooms.keys()]).to.have.members([...floorOf.keys()]);
    const up = [...imports].flatMap(([file, targets]) =>
      targets
        .filter((target) => imports.has(target) && roomOf(target) !== roomOf(file))
        .filter((target) => (floorOf.get(roomOf(target)) ?? 0) >= (floorOf.get(roomOf(file)) ?? 0))
        .map((target) => `${file} imports ${target}`),
    );
    expect(up).to.deep.equal([]);
  });

  for (const { rule, files, except, mayNotImport } of RULES) {
    it(rule, () => {
      const concerned = [...imports].filter(([file]) => files.test(file) && !except?.test(file));
      const breaches = concerned.flatMap(([file, targets]) =>
        targets.filter((name) => mayNotImport.test(name)).map((name) => `${file} imports ${name}`),
      );
      expect(concerned).not.to.have.length(0);
      expect(breaches).to.deep.equal([]);
    });
  }

  it("ships nothing of dev/", () => {
    const { exclude } = JSON.parse(readFileSync("tsconfig.build.json", "utf8")) as { exclude: string[] };
    expect(exclude).to.include("src/dev");
  });

  it("keeps every file under 250 lines", () => {
    const all = ["src", "test", "lua"].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
    );
    const long = all.filter(
      (file) => /\.(ts|mjs|lua|typ)$/.test(file) && readFileSync(file, "utf8").split("\n").length > 250,
    );
    expect(long).to.deep.equal([]);
  });
});
