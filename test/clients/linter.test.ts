import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";

interface Redocly {
  readonly createConfig: (options: object) => Promise<object>;
  readonly lintFromString: (options: object) => Promise<Fault[]>;
}

interface Fault {
  readonly ruleId: string;
  readonly message: string;
  readonly location: readonly { readonly pointer?: string }[];
}

describe("the contract", () => {
  it("is valid for a linter that has rules of its own", async function () {
    const redocly = process.env["CLIENTS_REDOCLY"];
    if (!redocly) this.skip();
    const module = await import(pathToFileURL(join(redocly, "lib/index.js")).href);
    const { createConfig, lintFromString } = module as Redocly;
    const config = await createConfig({
      extends: ["recommended"],
      rules: {
        "no-invalid-media-type-examples": "error",
        "no-invalid-schema-examples": "error",
        "no-invalid-parameter-examples": "error",
        "no-unused-components": "off", // method_not_allowed belongs to no operation
        "info-license-url": "off", // the license has an identifier instead
        "operation-4xx-response": "error",
      },
    });
    const source = await readFile("test/api/openapi.snapshot.json", "utf8");
    const found = await lintFromString({ source, absoluteRef: "openapi.json", config });
    expect(found.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)).to.deep.equal(
      [],
    );
  });
});
