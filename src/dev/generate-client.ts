/** `npm run generate:client`: writes src/client/types.gen.ts from the reviewed contract. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

// In a process of its own, because the generator replaces a package for all modules that are loaded after it.
execFileSync(
  process.execPath,
  [path("client-types.mjs"), path("../../test/api/openapi.snapshot.json"), path("../client")],
  { stdio: "inherit" },
);
