import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { environmentOf, testConfig } from "../support/service.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

describe("a service that is not compiled", function () {
  this.timeout(60_000);

  it("renders once for many requests, and leaves nothing behind when it stops meanwhile", async () => {
    const folder = await mkdtemp(join(tmpdir(), "render-test-"));
    const env = { ...process.env, ...environmentOf(testConfig()), TMPDIR: folder };
    const service = spawn(process.execPath, ["--import", "tsx", MAIN], {
      env,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const rendering = async () => (await readdir(folder)).filter((name) => name.startsWith("onboarding-pages-"));
    try {
      const [{ port }] = (await once(service, "message")) as [{ port: number }];
      const requests = Array.from({ length: 20 }, () =>
        request({ port, path: "/docs" })
          .on("error", () => undefined)
          .end(),
      );
      await Promise.all(requests.map((sent) => once(sent, "finish")));
      // A response of the service comes after it has received all requests of the twenty before.
      await fetch(`http://127.0.0.1:${port}/openapi.json`);
      let folders: string[];
      do folders = await rendering();
      while (folders.length === 0);
      expect(folders).to.have.length(1);
      for (const sent of requests) sent.destroy();
      const gone = once(service, "exit");
      service.kill("SIGTERM");
      expect(await gone).to.deep.equal([0, null]);
      expect(await rendering()).to.deep.equal([]);
    } finally {
      service.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    }
  });
});
