/** `npm run generate:client` writes the types of the contract to src/client/types.gen.ts. */
import { SetupError } from "../../src/dev/output.ts";
import { exitWith } from "../support/exit-with.ts";
import { withTools } from "../support/tools.ts";
import { findHeyApi, generateTypes } from "./hey-api.ts";

await exitWith(async ({ stopping }) => {
  const heyApi = await withTools(() => findHeyApi(stopping));
  if (heyApi === undefined) throw new SetupError("@hey-api/openapi-ts could not be installed. npm's error is above.");
  await generateTypes(heyApi, "test/api/openapi.snapshot.json", "src/client");
  return 0;
});
