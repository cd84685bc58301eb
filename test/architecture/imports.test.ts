import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { cyclesIn, type Imports, importsIn, roomOf, roomsOf } from "./graph.ts";

/**
 * The rooms of src/ (its folders, and the files directly in it), one floor after the other, the highest first. A room
 * imports only from floors below its own. So a new room, or an import in a new direction, needs a change here.
 */
const FLOORS = [
  ["dev"],
  ["main.ts", "admin"],
  ["process"],
  ["compose.ts"],
  ["app.ts", "sweeps", "grants"],
  ["site"],
  ["routes.ts"],
  ["reminders"],
  ["documents", "references", "pack", "limits", "usage", "webhooks"],
  ["candidates"],
  ["settings"],
  ["api"],
  ["idempotency", "limiter"],
  ["http", "accounts"],
  ["content", "audit"],
  ["infra", "schema"],
  ["config.ts", "problems.ts"],
  ["urls.ts"],
  ["client", "docs"],
];

/** Further rules. `files`, less `except`, may not import whatever matches `mayNotImport`. */
const RULES: { rule: string; files: RegExp; except?: RegExp; mayNotImport: RegExp }[] = [
  {
    rule: "only api/, http/, app.ts, site/mount.ts, reminders/pages/mount.ts and dev/ import Koa",
    files: /^src\//,
    except: /^src\/(api\/|http\/|app\.ts|site\/mount\.ts|reminders\/pages\/mount\.ts|dev\/)/,
    mayNotImport: /^(koa|@koa\/router)$/,
  },
  {
    rule: "only stores, infra/ and dev/ import the MongoDB driver",
    files: /^src\//,
    except: /^src\/(infra\/|dev\/|.*\/(store|stored|reader|.*-store)\.ts$)/,
    mayNotImport: /^mongodb$/,
  },
  {
    rule: "services, stores, states and edits import neither api/ nor http/",
    files: /\/(service|store|stored|.*-store|state|.*-state|record|edits|.*-edits|new|render|feed)\.ts$/,
    except: /^src\/(api|http)\//,
    mayNotImport: /^src\/(api|http)\//,
  },
  {
    rule: "only infra/ and dev/ import ioredis",
    files: /^src\//,
    except: /^src\/(infra|dev)\//,
    mayNotImport: /^ioredis$/,
  },
  { rule: "endpoints import services, not stores", files: /\/endpoints\.ts$/, mayNotImport: /store\.ts$/ },
  {
    rule: "only routes.ts imports endpoints",
    files: /^src\//,
    except: /^src\/routes\.ts$/,
    mayNotImport: /\/endpoints\.ts$/,
  },
];

const NOT_DEPLOYED = [
  "src/dev",
  "src/pack/slim-packages.ts",
  "src/client",
  "src/docs",
  "src/site/render",
  "src/site/browser",
];

function isDeployed(file: string): boolean {
  return !NOT_DEPLOYED.some((path) => file === path || file.startsWith(`${path}/`));
}

/** Their files are read by path, see src/pack/fonts.ts. */
const FONTS = /^@(embedpdf\/fonts|expo-google-fonts)\b/;

/** `@koa/router` of `@koa/router`, `ajv` of `ajv/dist/2020.js`. */
function packageOf(request: string): string {
  return request.split("/", request.startsWith("@") ? 2 : 1).join("/");
}

describe("the architecture", () => {
  const imports = importsIn("src");
  const rooms = roomsOf(imports);

  it("is checked on imports of values, imports of types, re-exports and dynamic imports", () => {
    const folder = mkdtempSync(join(tmpdir(), "onboarding-imports-"));
    const lines = [
      'import "koa";',
      'import type { A } from "./a.ts";',
      'export * from "./b.ts";',
      'await import("c");',
    ];
    writeFileSync(join(folder, "made.ts"), lines.join("\n"));
    const targets = ["koa", join(folder, "a.ts"), join(folder, "b.ts"), "c"];
    expect([...importsIn(folder)]).to.deep.equal([[join(folder, "made.ts"), targets]]);
    rmSync(folder, { recursive: true });
  });

  it("has no import cycle between files", () => {
    expect(cyclesIn(imports)).to.deep.equal([]);
  });

  it("has no import cycle between rooms", () => {
    expect(cyclesIn(rooms)).to.deep.equal([]);
  });

  it("is checked by a function that does find cycles", () => {
    const made: Imports = new Map([
      ["src/candidates/service.ts", ["src/documents/service.ts"]],
      ["src/documents/service.ts", []],
      ["src/documents/endpoints.ts", ["src/candidates/schema.ts"]],
      ["src/candidates/schema.ts", []],
    ]);
    expect(cyclesIn(made), "the files form no cycle").to.deep.equal([]);
    expect(cyclesIn(roomsOf(made))).to.deep.equal([["candidates", "documents", "candidates"]]);
    expect(
      cyclesIn(
        new Map([
          ["a", ["b"]],
          ["b", ["c"]],
          ["c", ["b"]],
        ]),
      ),
    ).to.deep.equal([["b", "c", "b"]]);
  });

  it("has every room on a floor, and no import from the same or a higher floor", () => {
    const floorOf = new Map(
      FLOORS.flatMap((floor, index) => floor.map((room) => [room, FLOORS.length - index] as const)),
    );
    expect([...rooms.keys()]).to.have.members([...floorOf.keys()]);
    const breaches = [...imports].flatMap(([file, targets]) =>
      targets
        .filter((target) => imports.has(target) && roomOf(target) !== roomOf(file))
        .filter((target) => (floorOf.get(roomOf(target)) ?? 0) >= (floorOf.get(roomOf(file)) ?? 0))
        .map((target) => `${file} imports ${target}`),
    );
    expect(breaches).to.deep.equal([]);
  });

  for (const { rule, files, except, mayNotImport } of RULES) {
    it(rule, () => {
      const checked = [...imports].filter(([file]) => files.test(file) && !except?.test(file));
      const breaches = checked.flatMap(([file, targets]) =>
        targets.filter((name) => mayNotImport.test(name)).map((name) => `${file} imports ${name}`),
      );
      expect(checked).not.to.have.length(0);
      expect(breaches).to.deep.equal([]);
    });
  }

  it("deploys only packages that are dependencies, and declares no dependency that it does not use", () => {
    const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: object };
    const deployed = [...imports].filter(([file]) => isDeployed(file)).flatMap(([, targets]) => targets);
    const packages = deployed.filter((name) => !/^(node:|src\/)/.test(name)).map(packageOf);
    const declared = Object.keys(dependencies).filter((name) => !FONTS.test(name));
    expect([...new Set(packages)]).to.have.members(declared);
  });

  it("deploys neither the build, dev/, the client and its examples, nor what renders the pages, and imports them nowhere", () => {
    const breaches = [...imports].flatMap(([file, targets]) =>
      targets
        .filter((target) => isDeployed(file) && imports.has(target) && !isDeployed(target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(breaches).to.deep.equal([]);
  });
});
