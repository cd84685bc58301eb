import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { step } from "../../src/dev/programs.ts";
import { TOOLS } from "../support/tools.ts";

/** The version that runs on Node 20. It uses the JavaScript API of TypeScript 5, which the project's TypeScript does not have. */
const PACKAGES = ["@hey-api/openapi-ts@0.95.0", "typescript@5.9.3"];
const FOLDER = join(TOOLS, PACKAGES.map((name) => name.replace(/.*\//, "")).join("-"));
const PACKAGE = join(FOLDER, "node_modules/@hey-api/openapi-ts");

interface HeyApi {
  readonly createClient: (options: object) => Promise<unknown>;
}

/** @returns the path of its program, which npm installs once, with the TypeScript that it needs; undefined if npm fails. */
export async function findHeyApi(signal: AbortSignal): Promise<string | undefined> {
  const program = join(PACKAGE, "bin/run.js");
  if (existsSync(program)) return program;
  mkdirSync(FOLDER, { recursive: true });
  const options = ["--prefix", FOLDER, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  const installed = await step("Installing @hey-api/openapi-ts (npm)", "npm", ["install", ...options, ...PACKAGES], {
    signal,
  });
  return installed ? program : undefined;
}

/** Writes the types of an OpenAPI document to types.gen.ts in a folder. `findHeyApi` has installed the generator. */
export async function generateTypes(contract: string, folder: string): Promise<void> {
  const { createClient } = (await import(pathToFileURL(join(PACKAGE, "dist/index.mjs")).href)) as HeyApi;
  await createClient({
    input: contract,
    output: { path: folder, clean: false, entryFile: false },
    plugins: ["@hey-api/typescript"],
    logs: { level: "silent", file: false },
  });
}
