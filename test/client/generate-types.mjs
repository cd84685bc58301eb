/**
 * `node test/client/generate-types.mjs CONTRACT FOLDER` writes the types of an OpenAPI document to FOLDER/types.gen.ts. The generator
 * needs the JavaScript API of TypeScript 5, which TypeScript 7 does not have, so it gets the one inside @ts-morph/common.
 */
import { register } from "node:module";
import { argv } from "node:process";

const [, , contract, folder] = argv;

/** @param {string} source */
const dataUrl = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
const morph = import.meta.resolve("@ts-morph/common");
const typescript = dataUrl(`import common from ${JSON.stringify(morph)}; export default common.ts;`);
register(
  dataUrl(`export const resolve = (name, context, next) =>
    name === "typescript" ? { url: ${JSON.stringify(typescript)}, shortCircuit: true } : next(name, context);`),
);

const { createClient } = await import("@hey-api/openapi-ts");
await createClient({
  input: contract,
  output: { path: folder, clean: false, entryFile: false },
  plugins: ["@hey-api/typescript"],
  logs: { level: "silent", file: false },
});
