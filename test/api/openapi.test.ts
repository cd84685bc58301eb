import { readFileSync, writeFileSync } from "node:fs";
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

  it("has the newest date of CHANGELOG.md as its version, info.version", () => {
    const dates = Array.from(readFileSync("CHANGELOG.md", "utf8").matchAll(/^### (\S+)$/gm), ([, date = ""]) => date);
    expect((JSON.parse(text) as { info: { version: string } }).info.version).to.equal(dates.toSorted().at(-1));
  });

  it("may be kept by any cache for five minutes, and has a name in the log and in the metrics", async () => {
    const { headers } = await fetch(`${service.url}/openapi.json`, { headers: { "X-Request-Id": "contract-1" } });
    expect(headers.get("cache-control")).to.equal("public, max-age=300");
    const measured = { http_route: "/openapi.json", http_response_status_code: "200" };
    expect((await scrape(service)).value("http_server_request_duration_seconds_count", measured)).to.be.at.least(1);
    expect(service.log.find(({ request_id }) => request_id === "contract-1")).to.include({ endpoint: "openapi" });
  });
});
