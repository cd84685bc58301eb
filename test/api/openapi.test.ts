import { readFileSync, writeFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { scrape } from "../support/metrics.ts";
import { useService } from "../support/use-service.ts";

const SNAPSHOT = new URL("openapi.snapshot.json", import.meta.url);

describe("GET /openapi.json", () => {
  const service = useService();
  let text: string;
  before(async () => {
    const response = await fetch(`${service.url}/openapi.json`);
    expect(response.status, "no key is needed").to.equal(200);
    text = `${JSON.stringify(await response.json(), null, 1)}\n`;
  });

  it("equals the snapshot that was reviewed (UPDATE_SNAPSHOT=1 writes a new one)", () => {
    if (process.env.UPDATE_SNAPSHOT) writeFileSync(SNAPSHOT, text);
    expect(text).to.equal(readFileSync(SNAPSHOT, "utf8"));
  });

  it("may be kept by any cache for five minutes, and has a name in the log and in the metrics", async () => {
    const { headers } = await fetch(`${service.url}/openapi.json`, { headers: { "X-Request-Id": "contract-1" } });
    expect(headers.get("cache-control")).to.equal("public, max-age=300");
    const measured = { http_route: "/openapi.json", http_response_status_code: "200" };
    expect((await scrape(service)).value("http_server_request_duration_seconds_count", measured)).to.be.at.least(1);
    expect(service.log.find(({ request_id }) => request_id === "contract-1")).to.include({ endpoint: "openapi" });
  });

  it("lists every endpoint of the interface", () => {
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations).to.have.members([
      "POST /candidates",
      "GET /candidates",
      "GET /candidates/{id}",
      "PATCH /candidates/{id}",
      "DELETE /candidates/{id}",
      "PATCH /candidates/{id}/outreach",
      "POST /candidates/{id}/start",
      "POST /candidates/{id}/documents",
      "GET /candidates/{id}/documents/{docId}",
      "PATCH /candidates/{id}/documents/{docId}",
      "DELETE /candidates/{id}/documents/{docId}",
      "PUT /candidates/{id}/documents/{docId}/content",
      "GET /candidates/{id}/documents/{docId}/content",
      "GET /candidates/{id}/pack",
      "POST /candidates/{id}/references",
      "GET /references/{id}",
      "PATCH /references/{id}",
      "DELETE /references/{id}",
      "GET /settings/assistant",
      "PATCH /settings/assistant",
      "GET /settings/quiet-hours",
      "PATCH /settings/quiet-hours",
      "GET /limits",
      "GET /openapi.json",
    ]);
  });

  it("has valid schemas, and every $ref points to something", () => {
    const contract = JSON.parse(text) as { components: { schemas: Record<string, object> } };
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(contract, "contract");
    for (const schema of Object.values(contract.components.schemas))
      expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).to.equal(true);
    for (const name of Object.keys(contract.components.schemas))
      ajv.compile({ $ref: `contract#/components/schemas/${name}` });
    for (const [, pointer] of text.matchAll(/"\$ref": "#\/([^"]+)"/g)) {
      const target = (pointer ?? "")
        .split("/")
        .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], contract);
      expect(target, pointer).not.to.equal(undefined);
    }
  });
});
