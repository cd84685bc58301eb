import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { compiled } from "../../support/compiled.ts";
import { type Fleet, startFleet } from "../replicas/fleet.ts";
import { heldDuring, WATCHED } from "./watcher.ts";

/** The longest stretch of CPU time that one request may take, in milliseconds. */
const BOUND_MS = 50;

describe("the pages", function () {
  this.timeout(180_000);
  let fleet: Fleet;
  before(async () => {
    // As `npm run build` does.
    const pages = join(dirname(await compiled("main.ts")), "pages.bin");
    await promisify(execFile)(process.execPath, ["--import", "tsx", "src/site/render/main.ts", pages]);
    fleet = await startFleet(1, {}, { environments: [WATCHED] });
  });
  after(() => fleet.stop());

  it(`never hold the event loop for ${BOUND_MS} ms: not the first request, which reads them all, nor the largest`, async () => {
    const [replica] = fleet.members;
    if (replica === undefined) throw new Error("The fleet is empty.");
    for (const path of ["/docs", "/docs/assets/try.js", "/docs/reference-candidates"]) {
      const { stretchMs } = await heldDuring(replica, async () => {
        const response = await fetch(fleet.url + path);
        expect(response.status, path).to.equal(200);
        await response.arrayBuffer();
      });
      expect(stretchMs, path).to.be.below(BOUND_MS);
    }
  });
});
