import { cp, mkdtemp, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { generateTypes } from "./hey-api.ts";
import { generate, itCompiles, itWorksIn, program, run, type Workshop } from "./support.ts";

const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url));
/** The settings of a strict project. */
const OPTIONS = { strict: true, target: "es2022", module: "esnext", moduleResolution: "bundler", types: ["node"] };

/** Compiles all TypeScript in the folder. */
async function compile(folder: string): Promise<void> {
  await symlink(MODULES, join(folder, "node_modules"));
  const compilerOptions = { ...OPTIONS, noEmit: true, skipLibCheck: true };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts"] }));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await run(process.execPath, [join(MODULES, "typescript/bin/tsc"), "--project", "."], { cwd: folder });
}

itCompiles("typescript-fetch", "CLIENTS_GENERATOR", compile);

/** Compiles the generated client with its program, and runs the program. */
async function compileAndRun({ folder, env }: Workshop, name: string): Promise<string> {
  await cp(program(name), join(folder, "program.ts"));
  await compile(folder);
  return run(process.execPath, ["--import", "tsx", "program.ts"], { cwd: folder, env });
}

itWorksIn("TypeScript (typescript-fetch)", ["CLIENTS_GENERATOR"], async (workshop) => {
  await generate("typescript-fetch", workshop, { output: "generated", settings: "modelPropertyNaming=original" });
  return compileAndRun(workshop, "fetch.ts");
});

itWorksIn("TypeScript (@hey-api/openapi-ts)", ["CLIENTS_HEY_API"], async (workshop) => {
  const generator = join(process.env["CLIENTS_HEY_API"] ?? "", "bin/run.js");
  await run(process.execPath, [generator, "-i", workshop.contract, "-o", "generated"], { cwd: workshop.folder });
  return compileAndRun(workshop, "hey-api.ts");
});

describe("this project's client", () => {
  it("has the types that the contract gives (`npm run generate:client` writes them)", async function () {
    const heyApi = process.env["CLIENTS_HEY_API"];
    if (!heyApi) this.skip();
    const folder = await mkdtemp(join(tmpdir(), "onboarding-types-"));
    await generateTypes(heyApi, "test/api/openapi.snapshot.json", folder);
    const made = await readFile(join(folder, "types.gen.ts"), "utf8");
    const committed = await readFile("src/client/types.gen.ts", "utf8");
    expect(made === committed, "types.gen.ts differs from the contract: run `npm run generate:client`").to.equal(true);
  });
});
