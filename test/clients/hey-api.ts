import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installPackages } from "../support/tools.ts";

/** The version that runs on Node 20. It uses the JavaScript API of TypeScript 5, which the project's TypeScript does not have. */
const PACKAGES = ["@hey-api/openapi-ts@0.95.0", "typescript@5.9.3"];

interface HeyApi {
  readonly createClient: (options: object) => Promise<unknown>;
}

/** @returns the folder of the generator, which npm installs once, with the TypeScript that it needs; undefined if npm fails. */
export async function findHeyApi(signal: AbortSignal): Promise<string | undefined> {
  const modules = await installPackages(PACKAGES, signal);
  return modules && join(modules, "@hey-api/openapi-ts");
}

/** Writes the types of an OpenAPI document to types.gen.ts in a folder. @param heyApi the generator's folder. */
export async function generateTypes(heyApi: string, contract: string, folder: string): Promise<void> {
  const { createClient } = (await import(pathToFileURL(join(heyApi, "dist/index.mjs")).href)) as HeyApi;
  await createClient({
    input: contract,
    output: { path: folder, clean: false, entryFile: false },
    plugins: ["@hey-api/typescript"],
    logs: { level: "silent", file: false },
  });
}
