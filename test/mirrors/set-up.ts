import { fileURLToPath } from "node:url";
import { findInVenv } from "../../src/dev/python.ts";
import { TOOLS, withTools } from "../support/tools.ts";
import type { SetUp } from "../suites.ts";

const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));

/** Installs dlt, Airbyte's CDK and what the examples need, and names their Python to the tests. */
export const setUp: SetUp = async ({ signal }) => {
  const python = await withTools(() => findInVenv("mirrors 2", { tools: TOOLS, requirements, signal }));
  if (python === undefined) return { skipped: "the mirrors in Python. They need python3 3.10 or newer with venv." };
  return { env: { MIRRORS_PYTHON: python } };
};
